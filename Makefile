# The commands of the project; `make help` lists them. Each prints what it does, and a reason when it fails.

SHELL := /bin/bash
.DEFAULT_GOAL := build
PREFIX ?= /usr/local
# One release build serves the server and its tests.
SWIFT_FLAGS := -c release --disable-index-store
BUILD := .build/release
SERVER := $(BUILD)/geomodel-server
CLIENT := Clients/python/src

.PHONY: help dependencies build demo check test fuzz sanitize soak bench generate generate-locales check-samples install wheel test-wheel deb test-deb format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

dependencies: ## install what the build needs and is missing
	@.ci/dependencies

build: dependencies ## build the server in release mode
	@echo "geomodel-server: building in release mode"
	@swift build $(SWIFT_FLAGS) --static-swift-stdlib --product geomodel-server

demo: build ## run the demonstration on real data
	@PYTHONPATH=$(CLIENT) GEOMODEL_SERVER=$(SERVER) python3 Clients/python/examples/demo.py $(if $(PICTURES),--pictures $(PICTURES))

check: ## debug build, quick tests and transcripts in memory
	@.ci/check

test: $(if $(FILTER),,build) ## every test in release mode; FILTER=UndoTests or FILTER='overlay/*': only those, in debug mode
	@$(if $(FILTER),.ci/check '$(FILTER)',.ci/test)

fuzz: ## fuzz what reads untrusted bytes, each target for SECONDS (60); TARGET=wkb: only that one
	@.ci/fuzz '$(or $(SECONDS),60)' $(TARGET)

sanitize: ## the tests under AddressSanitizer, then under ThreadSanitizer; SANITIZER=thread, FILTER=UndoTests: only those
	@set -e; for one in $(or $(SANITIZER),address thread); do .ci/sanitize $$one '$(FILTER)'; done

soak: build ## random sessions with the server for SECONDS (300); SEED=: from that one on; METHODS='geometry/*': mostly of those
	@python3 Tests/Soak/soak.py --server $(SERVER) --seconds $(or $(SECONDS),300) $(if $(SEED),--seed $(SEED)) $(if $(METHODS),--methods '$(METHODS)')

bench: build ## compare with C floors, as ratios, in one run
	@swift build -c release --scratch-path .build-tests -Xswiftc -enable-testing --build-tests
	@python3 Tests/Benchmarks/bench.py --server $(SERVER)

generate: dependencies ## write all generated code from Protocol/
	@swift build $(SWIFT_FLAGS) --product protocol-gen
	@$(BUILD)/protocol-gen Protocol --sources Sources --python $(CLIENT)/geomodel/_generated \
	  --reference Protocol/reference --openrpc Protocol/openrpc.json --schemas Protocol \
	  --changelog Protocol/CHANGELOG.md

generate-locales: ## write names of months and days and styles of numbers from the CLDR in Babel
	@test -e .build-babel/bin/python || { python3 -m venv .build-babel && .build-babel/bin/pip install -q babel==2.18.0; }
	@.build-babel/bin/python .ci/generate-locales Sources/TextFormatting/Generated/LocaleData.swift

install: build ## copy the server to PREFIX/bin (/usr/local unless set)
	@install -D -m 755 $(SERVER) $(DESTDIR)$(PREFIX)/bin/geomodel-server
	@echo "geomodel-server: installed to $(DESTDIR)$(PREFIX)/bin/geomodel-server"

# Of jansson pkg-config names a folder with the static library alone, so that it is linked. Only the linking is done anew.
wheel: dependencies ## make a wheel with server and libraries in dist/ (Linux on x86-64)
	@mkdir -p .build-wheel/static && cp "$$(cc -print-file-name=libjansson.a)" .build-wheel/static/
	@sed 's|^libdir=.*|libdir=$(CURDIR)/.build-wheel/static|' "$$(pkg-config --variable=pcfiledir jansson)/jansson.pc" >.build-wheel/static/jansson.pc
	@PKG_CONFIG_PATH=$(CURDIR)/.build-wheel/static swift build $(SWIFT_FLAGS) --static-swift-stdlib --product geomodel-server
	@.ci/wheel

test-wheel: ## install the wheel of dist/ in a bare Debian, and run the demo and all transcripts there (needs root and debootstrap)
	@.ci/test-wheel

deb: build ## make a Debian package of the server in dist/ (for Debian 12 and 13)
	@.ci/deb

test-deb: ## install the Debian package of dist/ in a bare Debian 12 and 13, and run the demo and all transcripts (needs root and debootstrap)
	@.ci/test-deb

format: ## format the Swift sources in place
	@swift format --in-place --recursive Sources Tests Package.swift --configuration .swift-format

check-samples: dependencies ## build with a sample member and a sample kind of object, and run every test that reads the definition
	@.ci/check-samples

clean: ## remove what was built
	@rm -rf .build .build-* dist
