"""Talks to the scripted server with Google's official SDK and prints what it understood, one line each.

Usage: gemini.py BASE_URL KEY
"""

import json
import sys

from google import genai
from google.genai import errors, types

BASE_URL, KEY = sys.argv[1:]
MODEL = "gemini-3-pro-preview"
PROMPT = "Compare the two files."
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def say(*words):
    print(*words, flush=True)


def client(key=KEY):
    return genai.Client(api_key=key, vertexai=False, http_options=types.HttpOptions(base_url=BASE_URL, timeout=20_000))


def config():
    read = types.FunctionDeclaration(name="Read", description="Reads a file.", parameters_json_schema=SCHEMA)
    return types.GenerateContentConfig(
        system_instruction="Be brief.",
        tools=[types.Tool(function_declarations=[read])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        thinking_config=types.ThinkingConfig(include_thoughts=True),
    )


def user(*parts):
    return types.Content(role="user", parts=list(parts))


def answers(calls):
    """The outputs of calls, each with a picture beside its text."""
    picture = types.FunctionResponsePart(
        inline_data=types.FunctionResponseBlob(mime_type="image/png", data=b"\x89PNG", display_name="a.png")
    )
    return [
        types.Part(
            function_response=types.FunctionResponse(
                id=call.id, name=call.name, response={"output": f"content of {call.args['path']}"}, parts=[picture]
            )
        )
        for call in calls
    ]


def round_trip():
    google = client()
    question = user(types.Part(text=PROMPT))
    parts, chunks, finish, usage = [], 0, None, None
    for chunk in google.models.generate_content_stream(model=MODEL, contents=[question], config=config()):
        chunks += 1
        usage = chunk.usage_metadata or usage
        candidate = chunk.candidates[0]
        finish = candidate.finish_reason or finish
        parts += [part for part in candidate.content.parts if part.text != ""]
    say("stop:", finish.name, "several chunks:", chunks > 4, "usage:", usage.total_token_count > 0)
    say("thought:", "".join(part.text for part in parts if part.thought))
    say("text:", "".join(part.text for part in parts if part.text and not part.thought))
    for part in parts:
        if call := part.function_call:
            say("call:", call.id, call.name, json.dumps(call.args, sort_keys=True), "signed:", bool(part.thought_signature))

    whole = google.models.generate_content(model=MODEL, contents=[question], config=config())
    say("whole calls are the streamed ones:", whole.function_calls == [p.function_call for p in parts if p.function_call])
    history = [question, types.Content(role="model", parts=parts), user(*answers(whole.function_calls))]
    last = google.models.generate_content(model=MODEL, contents=history, config=config())
    say("answer:", last.text, last.candidates[0].finish_reason.name, last.model_version)
    usage = last.usage_metadata
    say("usage:", usage.prompt_token_count, usage.cached_content_token_count, usage.candidates_token_count)

    unsigned = [part.model_copy(update={"thought_signature": None}) for part in parts]
    history[1] = types.Content(role="model", parts=unsigned)
    raised("unsigned call", lambda: google.models.generate_content(model=MODEL, contents=history, config=config()))


def raised(name, attempt):
    """Prints the type of the error that `attempt` raises, and what a caller would decide on."""
    try:
        attempt()
    except errors.APIError as error:
        details = error.details.get("error", {}).get("details", [])
        wait = next((detail["retryDelay"] for detail in details if "retryDelay" in detail), None)
        say(f"{name}: {type(error).__name__} code={error.code} status={error.status} wait={wait}")
        return
    say(f"{name}: no error")


def failures():
    google, stranger = client(), client("wrong")

    def ask(prompt, google=google):
        return lambda: google.models.generate_content(model=MODEL, contents=prompt, config=config())

    def stream(prompt):
        return lambda: list(google.models.generate_content_stream(model=MODEL, contents=prompt, config=config()))

    unanswered = [
        user(types.Part(text=PROMPT)),
        types.Content(role="model", parts=[types.Part(function_call=types.FunctionCall(name="Read", args={}))]),
        user(types.Part(text="go on")),
    ]
    raised("wrong key", ask(PROMPT, stranger))
    raised("unanswered call", ask(unanswered))
    raised("rate limit", ask("Too often."))
    raised("server error", ask("Break."))
    raised("overloaded", ask("Overload."))
    raised("overloaded in mid-stream", stream("Overload."))


round_trip()
failures()
