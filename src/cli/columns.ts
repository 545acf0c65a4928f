/** Fits text into the columns of a terminal. */

/** Wide characters take two columns, combining marks none. */
const wide =
  /[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u30ff\uff01-\uff60\uffe0-\uffe6]/u
const none = /[\p{Mn}\p{Me}\p{Cf}]/u

const widthOfLetter = (letter: string) => {
  if (letter <= '\u007e') return 1
  if (none.test(letter)) return 0
  return wide.test(letter) ? 2 : 1
}

/** How many columns a text takes. The text must not contain control characters. */
export function widthOf(text: string): number {
  let width = 0
  for (const letter of text) width += widthOfLetter(letter)
  return width
}

/** The text, cut to the width with a mark where something is missing. */
export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  return `${beginning(text, width - 1)}…`
}

function beginning(text: string, width: number): string {
  let end = 0
  let used = 0
  for (const letter of text) {
    used += widthOfLetter(letter)
    if (used > width) break
    end += letter.length
  }
  return text.slice(0, end)
}

/** Wraps text into lines, between words where possible. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (widthOf(longer) <= width) {
      line = longer
      continue
    }
    if (line !== '') lines.push(line)
    line = word
    while (widthOf(line) > width) {
      // A character wider than the terminal still has to go somewhere.
      const part = beginning(line, width) || [...line][0] || ''
      lines.push(part)
      line = line.slice(part.length)
    }
  }
  return [...lines, line]
}
