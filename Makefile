# The commands of the project. `make help` lists them.
.PHONY: test
test:
	swift test --disable-index-store
