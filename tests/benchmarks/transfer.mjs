// One long stream, read to its end by node's fetch: `node transfer.mjs URL` prints the figures.
// The second of two transfers is measured, after node has compiled the hot code.

async function read(url) {
  const response = await fetch(url, {
    method: "POST",
    headers: { accept: "text/event-stream", "content-type": "application/json" },
    body: JSON.stringify({ sessionId: "benchmark", input: "Tell me everything." }),
  });
  const decoder = new TextDecoder();
  let pending = "";
  let text = "";
  for await (const chunk of response.body) {
    pending += decoder.decode(chunk, { stream: true });
    const frames = pending.split("\n\n");
    pending = frames.pop();
    for (const frame of frames) {
      let data = "";
      for (const line of frame.split("\n")) {
        if (line.startsWith("data:")) data += line.slice(line[5] === " " ? 6 : 5);
      }
      const event = JSON.parse(data);
      if (event.type === "text.delta") text += event.text;
    }
  }
  return text;
}

const url = `${process.argv[2]}/chat`;
await read(url);
const started = performance.now();
const text = await read(url);
console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000, chars: text.length }));
