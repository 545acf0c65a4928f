/** What a model says, as the text that it is. */

/** A long text is cut into blocks at its line ends, so that a browser lays out only the last one when it grows. */
const BLOCK = 4000

export function Said({ text }: { readonly text: string }) {
  return (
    <div class="said">
      {blocksOf(text).map((block, place) => (
        // They never change places.
        <div key={place}>{block}</div>
      ))}
    </div>
  )
}

function blocksOf(text: string): readonly string[] {
  const blocks: string[] = []
  let start = 0
  for (;;) {
    const end = text.indexOf('\n', start + BLOCK)
    if (end < 0) return [...blocks, text.slice(start)]
    blocks.push(text.slice(start, end + 1))
    start = end + 1
  }
}
