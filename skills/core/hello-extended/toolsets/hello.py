"""Greetings in several languages: an example of a toolset.

A toolset is a class whose methods become tools of the model. The host that loads it provides the
base class and, from signatures and docstrings, describes the arguments of each tool to the model.
"""

from __future__ import annotations

from typing import Any

from agent_base import AgentToolset

GREETINGS = {
    "en": "Hello, {}!",
    "es": "¡Hola, {}!",
    "fr": "Bonjour, {}!",
    "de": "Guten Tag, {}!",
    "ja": "こんにちは, {}さん!",
    "zh": "你好, {}!",
}


class HelloExtended(AgentToolset):
    """Greets one person or several, in the language asked for."""

    def get_tools(self) -> list:
        """The methods that a model may call."""
        return [self.greet_in_language, self.greet_multiple]

    def greet_in_language(self, name: str, language: str = "en") -> dict[str, Any]:
        """Greet one person in a language.

        Args:
            name: who is greeted, such as "Ada"
            language: en, es, fr, de, ja or zh
        """
        pattern = GREETINGS.get(language)
        if pattern is None:
            return self._create_error_response(
                error="unsupported_language",
                message=f"Language '{language}' not supported. Available: {', '.join(GREETINGS)}",
            )
        return self._create_success_response(
            result=pattern.format(name), message=f"Generated greeting in {language}"
        )

    def greet_multiple(self, names: list[str], language: str = "en") -> dict[str, Any]:
        """Greet several people in a language.

        Args:
            names: who is greeted, such as ["Ada", "Alan"]
            language: en, es, fr, de, ja or zh
        """
        greetings = []
        for name in names:
            reply = self.greet_in_language(name, language)
            if not reply["success"]:
                return reply
            greetings.append(reply["result"])
        return self._create_success_response(
            result=greetings, message=f"Generated {len(greetings)} greetings"
        )
