"""What a conformance case is run on: the Python package, or the oracle. Both have the same methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from eliza_inference import Constraint, ElizaError, Matcher, Status, Step, Vocabulary

import conformance_cases as conformance
import oracle


class Library:
    """The Python package as the subject of a case."""

    def __init__(
        self, payload: bytes, vocab_size: int, model_id: str | None = None, span_timeout: int | None = None
    ) -> None:
        self.vocab_size = vocab_size
        self.constraint = Constraint(Vocabulary(vocab_size, model_id=model_id), payload)
        self.matcher = Matcher(self.constraint, span_timeout=span_timeout)

    @staticmethod
    def check_error(error: Exception, expected: dict[str, str]) -> None:
        assert isinstance(error, ElizaError)
        assert "ELIZA_ERR_" + Status(error.status).name == expected["status"]
        assert error.message == expected["message"]

    @staticmethod
    def names_of(bits: Step) -> set[str]:
        return {name for name in conformance.STEP_RESULTS if Step[name.upper()] in bits}

    def info(self) -> dict[str, int]:
        return {key: getattr(self.constraint.info, key) for key in conformance.INFO_KEYS}

    def clone(self) -> Library:
        copy = object.__new__(Library)
        copy.vocab_size, copy.constraint, copy.matcher = self.vocab_size, self.constraint, self.matcher.clone()
        return copy

    def look(self) -> dict[str, Any]:
        state, allowed = self.matcher.state, self.matcher.allowed()
        assert state.can_stop == self.matcher.can_stop
        assert state.n_allowed == (0 if allowed is None else len(allowed))
        plain = (*conformance.EXPECT_FLAGS, *conformance.EXPECT_NUMBERS)
        return {key: getattr(state, key) for key in plain} | {
            "allowed": "all" if allowed is None else list(allowed),
            "forced": self.matcher.forced(),
            "leaf": self.matcher.leaf,
        }

    def do(self, step: dict[str, Any]) -> None:
        match step["do"]:
            case "accept":
                assert self.names_of(self.matcher.accept(step["token"])) == set(step["result"])
            case "rollback":
                self.matcher.rollback(step["n"])
            case "activate":
                self.matcher.activate(step["path"])
            case "deactivate":
                self.matcher.deactivate()
            case "reset":
                self.matcher.reset()
            case "set_span_timeout":
                self.matcher.set_span_timeout(step["n"])
            case "set_seed":
                self.matcher.set_seed(step["seed"])
            case "mask":
                self.mask(step)
            case "sample":
                self.sample(step)

    def kept(self, n_logits: int) -> list[int] | str:
        """The ids that a mask of equal logits leaves, or "all"."""
        logits = np.zeros(n_logits, dtype=np.float32)
        self.matcher.mask_logits(logits)
        ids = np.flatnonzero(logits == 0).tolist()
        assert np.isneginf(np.delete(logits, ids)).all()
        return "all" if len(ids) == n_logits else ids

    def mask(self, step: dict[str, Any]) -> None:
        before = np.array(conformance.logits(step, self.vocab_size), dtype=np.float32)
        after = before.copy()
        self.matcher.mask_logits(after)
        if step["kept"] != "all":
            masked = np.setdiff1d(np.arange(len(before)), step["kept"])
            before[masked] = -np.inf
        np.testing.assert_array_equal(after, before)

    def sample(self, step: dict[str, Any]) -> None:
        logits = np.array(conformance.logits(step, self.vocab_size), dtype=np.float32)
        settings = {key: step[key] for key in ("temperature", "top_p") if key in step}
        tokens = step["tokens"] if "error" not in step else [-1]
        assert [self.matcher.sample(logits, step["mode"], **settings) for _ in tokens] == tokens


class Oracle:
    """The oracle as the subject of a case."""

    def __init__(
        self, payload: bytes, vocab_size: int, model_id: str | None = None, span_timeout: int | None = None
    ) -> None:
        self.vocab_size = vocab_size
        self.constraint = oracle.Constraint(oracle.decode(payload), vocab_size=vocab_size, model_id=model_id or "")
        self.matcher = oracle.Matcher(self.constraint, span_timeout or oracle.SPAN_TIMEOUT_TOKENS)

    @staticmethod
    def check_error(error: Exception, expected: dict[str, str]) -> None:
        assert isinstance(error, oracle.Refusal)
        assert error.status == expected["status"]

    def info(self) -> dict[str, int]:
        return self.constraint.info()

    def clone(self) -> Oracle:
        copy = object.__new__(Oracle)
        copy.vocab_size, copy.constraint, copy.matcher = self.vocab_size, self.constraint, self.matcher.clone()
        return copy

    def look(self) -> dict[str, Any]:
        return self.matcher.look()

    def kept(self, n_logits: int) -> list[int] | str:
        return self.matcher.kept(n_logits)

    def do(self, step: dict[str, Any]) -> None:
        match step["do"]:
            case "accept":
                assert self.matcher.accept(step["token"]) == set(step.get("result", []))
            case "rollback":
                self.matcher.rollback(step["n"])
            case "activate":
                self.matcher.activate(step["path"])
            case "deactivate":
                self.matcher.deactivate()
            case "reset":
                self.matcher.reset()
            case "set_span_timeout":
                self.matcher.set_span_timeout(step["n"])
            case "set_seed":
                self.matcher.set_seed(step["seed"])
            case "mask":
                assert self.kept(step.get("n", self.vocab_size)) == step.get("kept")
            case "sample":
                self.sample(step)

    def sample(self, step: dict[str, Any]) -> None:
        logits = np.array(conformance.logits(step, self.vocab_size), dtype=np.float32).tolist()
        settings = [float(np.float32(step.get(key, 1))) for key in ("temperature", "top_p")]
        tokens = step["tokens"] if "error" not in step else [-1]
        assert [self.matcher.sample(logits, step["mode"], *settings) for _ in tokens] == [{token} for token in tokens]
