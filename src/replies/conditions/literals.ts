/** Finds the text that every match of a regular expression contains, so that rules can be indexed by it. */

/** Escapes that continue after their letter: code points, properties, back references. */
const longer = /\\[xuckpP\d]/

/** The parts of a regular expression: escapes, classes, counted repetitions, and single characters. */
export const partsOf = (source: string): readonly string[] =>
  source.match(/\\.|\[(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|./gs) ?? []

/** Classes match many characters, and anchors none. */
const classOrAnchor = /^(?:\\[a-z]|\[.*|[+.^$])$/is

/**
 * Returns the longest text that every match contains, for each alternative of `expression`; empty if one alternative
 * has none. With the flag i, the case of the text is not significant. Groups and classes simply end a text.
 */
export function requiredLiterals({ source, flags }: RegExp): readonly string[] {
  // With v, classes can be nested, which this does not parse. With i and u, some ASCII letters match letters that are not ASCII.
  if (flags.includes('v') || (flags.includes('i') && flags.includes('u')) || longer.test(source)) return []
  const literals: string[] = []
  let longest = ''
  let text = ''
  let depth = 0
  function endText(): void {
    if (text.length > longest.length) longest = text
    text = ''
  }
  function endAlternative(): void {
    endText()
    literals.push(longest)
    longest = ''
  }
  for (const part of partsOf(source)) {
    if (part === '(') depth++
    if (depth > 0) {
      endText()
      if (part === ')') depth--
    } else if (part === '|') {
      endAlternative()
    } else if (/^[?*{]/.test(part)) {
      // The last character may be missing from a match, as it is followed by a quantifier.
      text = text.replace(/[\ud800-\udbff]?.$/s, '')
      endText()
    } else if (classOrAnchor.test(part)) {
      endText()
    } else {
      text += part.replace(/^\\/, '')
    }
  }
  endAlternative()
  return literals.every(literal => literal !== '') ? literals : []
}
