"""The tools of tutorials and demos, made from plain functions with a line each, and how people ask for what they do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pipeline.test_first_questions import TEXT, WEATHER, due, tool
from toolglot.core.tools import Tool

WHOLE, NUMBER, SWITCH = {"type": "integer"}, {"type": "number"}, {"type": "boolean"}


def optional(name: str, description: str, /, **properties: dict[str, Any]) -> Tool:
    return Tool(name, description, {"type": "object", "properties": properties})


TOOLS = {
    one.name: one
    for one in (
        tool("calculate", "Evaluate a mathematical expression.", expression=TEXT),
        tool("calc", "A simple calculator", expr=TEXT),
        tool("subtract", "Subtract b from a.", a=NUMBER, b=NUMBER),
        tool("power", "Raise a number to a power.", base=NUMBER, exponent=NUMBER),
        tool("is_even", "Is a number even", n=WHOLE),
        tool("calculate_tip", "Calculate the tip.", bill=NUMBER, percent=NUMBER),
        tool("get_events", "List calendar events for a date.", date=TEXT),
        tool("set_reminder", "Set a reminder.", text=TEXT, time=TEXT),
        tool("add_todo", "Add an item to the to-do list.", task=TEXT),
        tool("create_task", "Create a task", title=TEXT),
        tool("add_note", "Add a note.", text=TEXT),
        tool("search_notes", "Search my notes.", query=TEXT),
        tool("get_unread_emails", "Get unread emails."),
        tool("send_email", "Send an email.", to=TEXT, subject=TEXT, body=TEXT),
        optional("list_files", "List files in a directory.", directory={**TEXT, "default": "."}),
        tool("list_dir", "List a directory", path=TEXT),
        tool("write_file", "Write content to a file.", path=TEXT, content=TEXT),
        tool("delete_file", "Delete a file.", path=TEXT),
        tool("run_command", "Run a shell command.", command=TEXT),
        tool("run_sql", "Execute a SQL query on the database", query=TEXT),
        tool("list_issues", "List open issues of a GitHub repository.", repo=TEXT),
        tool("get_repo", "Get a GitHub repository", owner=TEXT, repo=TEXT),
        tool("get_stock_price", "Get the latest stock price.", symbol=TEXT),
        tool("get_crypto_price", "Get the price of a cryptocurrency.", coin=TEXT),
        tool("define_word", "Look up the definition of a word.", word=TEXT),
        tool("get_synonyms", "Get synonyms of a word.", word=TEXT),
        tool("translate_text", "Translate text to another language.", text=TEXT, target_language=TEXT),
        tool("get_directions", "Get driving directions.", start=TEXT, end=TEXT),
        tool("search_flights", "Search for flights.", origin=TEXT, destination=TEXT),
        tool("get_recipe", "Get a recipe for a dish.", dish=TEXT),
        tool("play_song", "Play a song.", title=TEXT),
        tool("toggle_light", "Turn the lights on or off.", on=SWITCH),
        tool("add_to_cart", "Add a product to the shopping cart.", "product", product=TEXT, quantity={**WHOLE, "default": 1}),
        tool("cancel_order", "Cancel an order.", order_id=TEXT),
        tool("flip_coin", "Flip a coin."),
        tool("roll_dice", "Roll dice", count=WHOLE, sides=WHOLE),
        tool("date_diff", "Days between dates", start=TEXT, end=TEXT),
        tool("reverse", "Reverse a string", s=TEXT),
        tool("to_uppercase", "Convert text to uppercase.", text=TEXT),
        tool("summarize", "Summarize a text.", text=TEXT),
        tool("analyze_sentiment", "Analyze the sentiment of a text.", text=TEXT),
        optional("tell_joke", "Tell a joke.", topic=TEXT),
        tool("get_population", "Get the population of a country.", country=TEXT),
        tool("wikipedia", "Look up a topic on Wikipedia.", query=TEXT),
        tool("web_search", "Search the web for information.", query=TEXT),
        tool("get_location", "Get the user's current location."),
        tool("generate_image", "Generate an image from a prompt.", prompt=TEXT),
        tool("greet", "Greet a person.", name=TEXT),
        tool("get_horoscope", "Get today's horoscope for an astrological sign.", sign=TEXT),
        tool("current_datetime", "The current date and time"),
        tool("get_user_name", "Get the name of the current user."),
        tool("country_info", "Facts about a country", country=TEXT),
    )
}
BESIDE = [tool("book_hotel", "Book a hotel", city=TEXT, nights=WHOLE), tool("set_volume", "Set the volume", level=WHOLE)]


@pytest.mark.parametrize("beside", [[], [WEATHER, *BESIDE]], ids=["alone", "beside others"])
@pytest.mark.parametrize(
    ("question", "name", "values"),
    [
        ("What is 12 * 7?", "calculate", {"expression": "12 * 7"}),
        ("compute (3 + 5) * 2", "calculate", {"expression": "(3 + 5) * 2"}),
        ("How much is 15 plus 27?", "calc", {"expr": "15 + 27"}),
        ("Subtract 8 from 20", "subtract", {"a": 20, "b": 8}),
        ("What is 2^8?", "power", {"base": 2, "exponent": 8}),
        ("Is 42 even?", "is_even", {"n": 42}),
        ("What's a 20% tip on $50?", "calculate_tip", {"bill": 50, "percent": 20}),
        ("tip 18% on 45.50", "calculate_tip", {"bill": 45.5, "percent": 18}),
        ("What do I have planned for tomorrow?", "get_events", {"date": "tomorrow"}),
        ("Set a reminder to take out the trash at 20:00", "set_reminder", {"text": "take out the trash", "time": "20:00"}),
        ("Put call the dentist on my todo list", "add_todo", {"task": "call the dentist"}),
        ("new task: call the bank", "create_task", {"title": "call the bank"}),
        ("Take a note: the key is under the mat", "add_note", {"text": "the key is under the mat"}),
        ("make a note to call Anna", "add_note", {"text": "call Anna"}),
        ("Find my notes about the budget", "search_notes", {"query": "budget"}),
        ("check my inbox", "get_unread_emails", {}),
        ("Email anna@example.com, subject Lunch, body See you at noon", "send_email", {"body": "See you at noon"}),
        ("List the files in src", "list_files", {"directory": "src"}),
        ("What files are in src?", "list_files", {"directory": "src"}),
        ("ls /srv/data", "list_files", {"directory": "/srv/data"}),
        ("list everything in ./src", "list_dir", {"path": "./src"}),
        ("save hello to out.txt", "write_file", {"path": "out.txt", "content": "hello"}),
        ("rm temp.txt", "delete_file", {"path": "temp.txt"}),
        ("run the command df -h", "run_command", {"command": "df -h"}),
        ("select name from customers", "run_sql", {"query": "select name from customers"}),
        ("What issues are open on octocat/hello?", "list_issues", {"repo": "octocat/hello"}),
        ("Show me the repo octocat/hello", "get_repo", {"owner": "octocat", "repo": "hello"}),
        ("How is Nvidia stock doing?", "get_stock_price", {"symbol": "NVDA"}),
        ("What's the price of Bitcoin?", "get_crypto_price", {"coin": "Bitcoin"}),
        ("Define serendipity", "define_word", {"word": "serendipity"}),
        ("What's another word for big?", "get_synonyms", {"word": "big"}),
        ("translate good night to german", "translate_text", {"text": "good night", "target_language": "german"}),
        ("How do I get from Boston to New York?", "get_directions", {"start": "Boston", "end": "New York"}),
        ("flights london to rome", "search_flights", {"origin": "london", "destination": "rome"}),
        ("How do I make lasagna?", "get_recipe", {"dish": "lasagna"}),
        ("put on Yesterday by the Beatles", "play_song", {"title": "Yesterday"}),
        ("lights off", "toggle_light", {"on": False}),
        ("Put three bananas in my basket", "add_to_cart", {"product": "bananas", "quantity": 3}),
        ("please cancel my order #777", "cancel_order", {"order_id": "777"}),
        ("heads or tails?", "flip_coin", {}),
        ("roll 3d6", "roll_dice", {"count": 3, "sides": 6}),
        ("How many days between 2025-01-01 and 2025-12-31?", "date_diff", {"start": "2025-01-01", "end": "2025-12-31"}),
        ("What is hello spelled backwards?", "reverse", {"s": "hello"}),
        ("Convert hello world to uppercase", "to_uppercase", {"text": "hello world"}),
        ("Summarize: The cat sat on the mat. It slept.", "summarize", {"text": "The cat sat on the mat. It slept."}),
        ('Is "this was awful" positive or negative?', "analyze_sentiment", {"text": "this was awful"}),
        ("Tell me a joke about cats", "tell_joke", {"topic": "cats"}),
        ("How many people live in Brazil?", "get_population", {"country": "Brazil"}),
        ("Who was Marie Curie?", "wikipedia", {"query": "Marie Curie"}),
        ("Tell me about the Eiffel Tower", "wikipedia", {"query": "Eiffel Tower"}),
        ("Search for the best laptops of 2025", "web_search", {"query": "best laptops of 2025"}),
        ("google python decorators", "web_search", {"query": "python decorators"}),
        ("Where am I?", "get_location", {}),
        ("Draw a cat riding a bicycle", "generate_image", {"prompt": "a cat riding a bicycle"}),
        ("Greet Alice", "greet", {"name": "Alice"}),
        ("What's the horoscope for Virgo today?", "get_horoscope", {"sign": "Virgo"}),
        ("What year is it?", "current_datetime", {}),
    ],
)
def test_one_call_is_due(question: str, name: str, values: dict[str, Any], beside: list[Tool]) -> None:
    found = due(question, *beside, TOOLS[name])
    assert [called for called, _ in found] == [name]
    assert values.items() <= found[0][1].items()


def test_a_city_before_the_weather() -> None:
    assert due("berlin weather", WEATHER) == [("get_weather", {"city": "berlin"})]


def test_no_folder_is_called_current() -> None:
    assert due("What files are in the current directory?", TOOLS["list_files"]) == [("list_files", {})]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("My name is Sarah", "get_user_name"),
        ("I live in Boston", "get_horoscope"),
        ("What do you mean?", "define_word"),
        ("What do you think about AI?", "get_horoscope"),
        ("Write a Python function that adds numbers", "add_note"),
        ("How many legs does a spider have?", "country_info"),
        ("tell me about yourself", "wikipedia"),
        ("look up my order", "web_search"),
        ("What is a joke?", "get_recipe"),
    ],
)
def test_no_call_is_due(question: str, name: str) -> None:
    assert due(question, TOOLS[name]) == []
