/** The texts of magic words: short, fixed, and each with something that is hard to display. */

export const markdown = `# A heading

Some **bold**, some *italic*, some \`code\` and [a link](https://example.com).

## A list

1. first
2. second
   - with a part
   - and another

## A table

| city | degrees |
| --- | ---: |
| Berlin | 21 |
| São Paulo | 28 |

## Code

\`\`\`ts
const greet = (name: string) => \`Hello, \${name}!\`
\`\`\`

> A quotation, and a line below it.

---

The end.`

/** Each line contains one kind of text that breaks if bytes are taken for characters. */
export const unicode = [
  'Emoji: 😀 👍🏽 🇪🇺 👩‍👩‍👧‍👦 ❤️',
  'Chinese, Japanese, Korean: 你好,世界。こんにちは、世界。안녕하세요 세계.',
  'Right to left: שלום עולם, مرحبا بالعالم (and back).',
  // Written as escapes, since an editor may combine a letter and its accent.
  `Combining: e\u0301 a\u0308 n\u0303 Z\u0351\u036b\u0343 \u0915\u094d\u0937`,
  'Beyond the first plane: 𝒜𝓁𝓅𝒽𝒶 𐍈 𠜎',
  `Invisible: zero\u200bwidth, no\u00a0break, soft\u00adhyphen`,
].join('\n')

export const json = JSON.stringify({ ok: true, answer: 42, items: ['one', 'two'], nested: { nothing: null } })

export const reasoning =
  'The user wants to see how reasoning is shown. First I think about it for a while. Then I say what I came to.'

export const refusal = "I'm sorry, but I can't help with that."

/** The text of an answer that reaches the token limit: it ends within a word. */
export const cutOff = 'This answer would have gone on for a while, but the limit on tokens was reached in the midd'

const sentence =
  'of a long answer: words that follow words, for a page that scrolls, a buffer that fills and a client that waits.'

/** About 2,000 words in numbered lines, so that it is visible where the text was cut. */
export const long = Array.from({ length: 80 }, (_, i) => `Line ${i + 1} ${sentence}`).join('\n')
