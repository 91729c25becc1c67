"""Tests any server of the protocol by transcripts; `Protocol/conformance/README.md` says what they mean."""
