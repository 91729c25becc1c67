# The commands of the project. `make help` lists them; each says what it does and fails with a reason.

SHELL := /bin/bash
.DEFAULT_GOAL := build
PREFIX ?= /usr/local
# One release build serves the server and its tests.
SWIFT_FLAGS := -c release --disable-index-store
BUILD := .build/release
SERVER := $(BUILD)/geomodel-server
CLIENT := Clients/python/src

.PHONY: help dependencies build demo test bench generate install format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

dependencies: ## install what the build needs and is not there
	@.ci/dependencies

build: dependencies ## build the server in release mode
	@echo "geomodel-server: building in release mode"
	@swift build $(SWIFT_FLAGS) --static-swift-stdlib --product geomodel-server

demo: build ## run the demonstration on real data
	@PYTHONPATH=$(CLIENT) GEOMODEL_SERVER=$(SERVER) python3 Clients/python/examples/demo.py

test: build ## build and run every test that needs no variable
	@.ci/test

bench: build ## compare with C floors, as ratios, in one run
	@swift build -c release --scratch-path .build-tests -Xswiftc -enable-testing --build-tests
	@python3 Tests/Benchmarks/bench.py --server $(SERVER)

generate: dependencies ## write all generated code from Protocol/
	@swift build $(SWIFT_FLAGS) --product protocol-gen
	@$(BUILD)/protocol-gen Protocol --swift Sources/GeoProtocol/Generated --model Sources/GeoModel/Generated --python $(CLIENT)/geomodel/_generated \
	  --reference Protocol/reference --openrpc Protocol/openrpc.json --schemas Protocol

install: build ## copy the server to PREFIX/bin (/usr/local unless set)
	@install -D -m 755 $(SERVER) $(DESTDIR)$(PREFIX)/bin/geomodel-server
	@echo "geomodel-server: installed to $(DESTDIR)$(PREFIX)/bin/geomodel-server"

format: ## format the Swift sources in place
	@swift format --in-place --recursive Sources Tests Package.swift --configuration .swift-format

clean: ## remove what was built
	@rm -rf .build .build-*
