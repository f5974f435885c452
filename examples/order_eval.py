"""Evals of a support agent, in code. They run unchanged in process, against a deployment, and under pytest.

    remote-evals run examples/order_eval.py
    remote-evals run examples/order_eval.py --fake examples/refund.fake.yaml
    pytest examples/order_eval.py

The agent below stands for your own: it takes a prompt, and returns its reply and its tool calls.
"""

from remote_evals import define_eval, includes

ORDER_41 = {"orderId": "41", "status": "shipped", "location": "Lisbon", "arrives": "Thursday"}


def make_agent():
    """Return a new agent, which remembers a name for the length of its session."""
    names = []

    def agent(prompt):
        if prompt.startswith("My name is "):
            names.append(prompt.removeprefix("My name is ").rstrip("."))
            return {"reply": f"Nice to meet you, {names[-1]}. How can I help?", "steps": 1}
        if prompt == "What is my name?":
            return {"reply": f"Your name is {names[-1]}.", "steps": 1}
        if "41" in prompt:
            call = {"name": "lookup_order", "args": {"orderId": "41"}, "result": ORDER_41}
            reply = "Order 41 has shipped. It is in Lisbon now and should arrive on Thursday."
            return {"reply": reply, "steps": 2, "tool_calls": [call]}
        return {"reply": "I can only tell you about order 41 today.", "steps": 1}

    return agent


@define_eval(
    name="order lookups",
    tags=["smoke"],
    agent=make_agent,
    cases=[
        {"input": "Where is order 41?", "order_id": "41"},
        {"input": "Status of #41", "order_id": "41", "label": "hash syntax"},
    ],
)
async def order_lookups(t, case):
    """Ask for an order in several ways; the agent looks it up."""
    await t.send(case["input"])
    t.completed()
    t.called_tool("lookup_order", args={"orderId": case["order_id"]})
    t.check("mentions the order", t.reply, includes(case["order_id"]))
    t.max_steps(2)


@define_eval(name="remembers a name", agent=make_agent)
def remembers_a_name(t):
    """Send two turns in one session; plain functions and async functions both work."""
    t.send("My name is Ada.")
    t.send("What is my name?")
    t.completed()
    t.output_contains("Ada")
    t.not_called_tool("lookup_order")
