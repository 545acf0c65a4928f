/** Fits text into the columns of a terminal. */

/** Letters that take the place of two, and marks that take none. */
const wide =
  /[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u30ff\uff01-\uff60\uffe0-\uffe6]/u
const none = /[\p{Mn}\p{Me}\p{Cf}]/u

const widthOfLetter = (letter: string) => {
  if (letter <= '\u007e') return 1
  if (none.test(letter)) return 0
  return wide.test(letter) ? 2 : 1
}

/** How many columns a text takes that has nothing in it that steers a terminal. */
export function widthOf(text: string): number {
  let width = 0
  for (const letter of text) width += widthOfLetter(letter)
  return width
}

/** The text, or as much of its beginning as fits, with a mark that something is missing. */
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

/** Lines that fit, broken between words where that is possible. */
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
      // A letter that is wider than the terminal still has to go somewhere.
      const part = beginning(line, width) || [...line][0] || ''
      lines.push(part)
      line = line.slice(part.length)
    }
  }
  return [...lines, line]
}
