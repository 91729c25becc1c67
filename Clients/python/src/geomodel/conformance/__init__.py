"""Holds any server of the protocol against transcripts; `Protocol/conformance/README.md` says what they mean."""
