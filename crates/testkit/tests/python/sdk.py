"""Talks to the scripted server with the official SDKs and prints what they understood, one line each.

Usage: sdk.py BASE_URL KEY
"""

import json
import sys

import anthropic
import openai

BASE_URL, KEY = sys.argv[1:]
PROMPT = "Compare the two files."
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def say(*words):
    print(*words, flush=True)


def raised(name, attempt):
    """Prints the type of the error that `attempt` raises, and what a caller would decide on."""
    try:
        attempt()
    except (anthropic.APIError, openai.APIError) as error:
        status = getattr(error, "status_code", None)
        response = getattr(error, "response", None)
        retry_after = response.headers.get("retry-after") if response is not None else None
        say(f"{name}: {type(error).__name__} status={status} retry_after={retry_after}")
        return
    say(f"{name}: no error")


def anthropic_client(key=KEY):
    return anthropic.Anthropic(base_url=BASE_URL, api_key=key, max_retries=0, timeout=20)


def anthropic_request(prompt=PROMPT, **more):
    tools = [{"name": "Read", "description": "Reads a file.", "input_schema": SCHEMA}]
    return {
        "model": "scripted",
        "max_tokens": 1024,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "tools": tools,
        "messages": [{"role": "user", "content": prompt}],
        **more,
    }


def anthropic_round_trip():
    client = anthropic_client()
    request = anthropic_request()
    deltas = 0
    with client.messages.stream(**request) as stream:
        for event in stream:
            deltas += event.type == "content_block_delta"
        first = stream.get_final_message()
    say("anthropic stop:", first.stop_reason, "several deltas:", deltas > len(first.content))
    for block in first.content:
        if block.type == "thinking":
            say("anthropic thinking:", block.thinking, "signed:", bool(block.signature))
        elif block.type == "text":
            say("anthropic text:", block.text)
        else:
            say("anthropic call:", block.id, block.name, json.dumps(block.input, sort_keys=True))
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": f"content of {block.input['path']}"}
        for block in first.content
        if block.type == "tool_use"
    ]
    history = request["messages"] + [
        {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in first.content]},
        {"role": "user", "content": results},
    ]
    last = client.messages.create(**anthropic_request(messages=history))
    say("anthropic answer:", last.content[0].text, last.stop_reason)
    say("anthropic usage:", last.usage.input_tokens, last.usage.cache_read_input_tokens, last.usage.output_tokens)


def anthropic_errors():
    client = anthropic_client()

    def stream_to_the_end(prompt):
        with client.messages.stream(**anthropic_request(prompt)) as stream:
            stream.until_done()

    def create(**request):
        return lambda: client.messages.create(**request)

    unanswered = [
        {"role": "user", "content": PROMPT},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}]},
        {"role": "user", "content": "go on"},
    ]
    raised("anthropic wrong key", lambda: anthropic_client("wrong").messages.create(**anthropic_request()))
    raised("anthropic unanswered call", create(**anthropic_request(messages=unanswered)))
    raised("anthropic rate limit", create(**anthropic_request("Too often.")))
    raised("anthropic server error", create(**anthropic_request("Break.")))
    raised("anthropic overloaded", create(**anthropic_request("Overload.")))
    raised("anthropic overloaded in mid-stream", lambda: stream_to_the_end("Overload."))


def openai_client(key=KEY):
    return openai.OpenAI(base_url=f"{BASE_URL}/v1", api_key=key, max_retries=0, timeout=20)


def openai_request(prompt=PROMPT, **more):
    function = {"name": "Read", "description": "Reads a file.", "parameters": SCHEMA}
    return {
        "model": "scripted",
        "tools": [{"type": "function", "function": function}],
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": prompt}],
        **more,
    }


def openai_round_trip():
    client = openai_client()
    request = openai_request()
    text, calls, finish, usage, chunks = "", {}, None, None, 0
    for chunk in client.chat.completions.create(**request, stream=True, stream_options={"include_usage": True}):
        chunks += 1
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for delta in choice.delta.tool_calls or []:
                call = calls.setdefault(delta.index, {"id": delta.id, "name": delta.function.name, "arguments": ""})
                call["arguments"] += delta.function.arguments
    say("openai stop:", finish, "several chunks:", chunks > 6, "usage:", usage.total_tokens > 0)
    say("openai text:", text)
    for call in calls.values():
        say("openai call:", call["id"], call["name"], json.dumps(json.loads(call["arguments"]), sort_keys=True))

    first = client.chat.completions.create(**request).choices[0].message
    say("openai whole call is the streamed one:", first.tool_calls[0].function.arguments == calls[0]["arguments"])
    outputs = [
        {"role": "tool", "tool_call_id": call.id, "content": f"content of {json.loads(call.function.arguments)['path']}"}
        for call in first.tool_calls
    ]
    history = request["messages"] + [first.model_dump(exclude_none=True), *outputs]
    last = client.chat.completions.create(**openai_request(messages=history))
    say("openai answer:", last.choices[0].message.content, last.choices[0].finish_reason)
    details = last.usage.prompt_tokens_details
    say("openai usage:", last.usage.prompt_tokens, details.cached_tokens, last.usage.completion_tokens)


def openai_errors():
    client = openai_client()

    def create(**request):
        return lambda: client.chat.completions.create(**request)

    def stream_to_the_end(prompt):
        for _ in client.chat.completions.create(**openai_request(prompt), stream=True):
            pass

    unanswered = [
        {"role": "user", "content": PROMPT},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "Read", "arguments": "{}"}}],
        },
        {"role": "user", "content": "go on"},
    ]
    raised("openai wrong key", lambda: openai_client("wrong").chat.completions.create(**openai_request()))
    raised("openai unanswered call", create(**openai_request(messages=unanswered)))
    raised("openai rate limit", create(**openai_request("Too often.")))
    raised("openai server error", create(**openai_request("Break.")))
    raised("openai overloaded", create(**openai_request("Overload.")))
    raised("openai overloaded in mid-stream", lambda: stream_to_the_end("Overload."))


def responses_request(prompt=PROMPT, **more):
    tool = {"type": "function", "name": "Read", "description": "Reads a file.", "parameters": SCHEMA, "strict": False}
    return {
        "model": "gpt-5",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "instructions": "Be brief.",
        "tools": [tool],
        "input": [{"role": "user", "content": prompt}],
        **more,
    }


def responses_round_trip():
    client = openai_client()
    request = responses_request()
    text, reasoning, arguments, kinds, done = "", "", {}, set(), None
    for event in client.responses.create(**request, stream=True):
        kinds.add(event.type)
        if event.type == "response.output_text.delta":
            text += event.delta
        elif event.type == "response.reasoning_summary_text.delta":
            reasoning += event.delta
        elif event.type == "response.function_call_arguments.delta":
            arguments[event.output_index] = arguments.get(event.output_index, "") + event.delta
        elif event.type == "response.completed":
            done = event.response
    say("responses stop:", done.status, "kinds of events:", len(kinds), "usage:", done.usage.total_tokens > 0)
    say("responses reasoning:", reasoning, "sealed:", bool(done.output[0].encrypted_content))
    say("responses text:", text, "whole:", text == done.output_text)
    for index, item in enumerate(done.output):
        if item.type == "function_call":
            same = item.arguments == arguments[index]
            say("responses call:", item.call_id, item.name, item.arguments, "whole:", same)

    first = client.responses.create(**request)
    png = "data:image/png;base64,iVBORw0KGgo="
    outputs = [
        {
            "type": "function_call_output",
            "call_id": item.call_id,
            "output": [
                {"type": "input_text", "text": f"content of {json.loads(item.arguments)['path']}"},
                {"type": "input_image", "image_url": png},
            ],
        }
        for item in first.output
        if item.type == "function_call"
    ]
    history = request["input"] + [item.model_dump(exclude_none=True) for item in first.output] + outputs
    last = client.responses.create(**responses_request(input=history))
    say("responses answer:", last.output_text, last.status)
    details = last.usage.input_tokens_details
    say("responses usage:", last.usage.input_tokens, details.cached_tokens, last.usage.output_tokens)


def responses_errors():
    client = openai_client()

    def create(**request):
        return lambda: client.responses.create(**request)

    def stream_to_the_end(prompt):
        for _ in client.responses.create(**responses_request(prompt), stream=True):
            pass

    unanswered = [
        {"role": "user", "content": PROMPT},
        {"type": "function_call", "call_id": "call_1", "name": "Read", "arguments": "{}"},
        {"role": "user", "content": "go on"},
    ]
    raised("responses wrong key", lambda: openai_client("wrong").responses.create(**responses_request()))
    raised("responses unanswered call", create(**responses_request(input=unanswered)))
    raised("responses sealed by a model that does not reason", create(**responses_request(model="gpt-4o")))
    raised("responses rate limit", create(**responses_request("Too often.")))
    raised("responses server error", create(**responses_request("Break.")))
    raised("responses overloaded", create(**responses_request("Overload.")))
    raised("responses overloaded in mid-stream", lambda: stream_to_the_end("Overload."))


anthropic_round_trip()
anthropic_errors()
openai_round_trip()
openai_errors()
responses_round_trip()
responses_errors()
