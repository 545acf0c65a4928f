/** Finds the text that every match of a regular expression contains, so that rules can be indexed by it. */

/** Letters with a meaning after a backslash: classes and anchors. */
const meaningful = /[a-z]/i
/** Escapes that continue after their letter: code points, properties, back references. */
const longer = /\\[xuckpP\d]/
/** A quantifier. */
export const repetition = /^\{\d+(,\d*)?\}/

/**
 * Returns the longest text that every match contains, for each alternative of `expression`; empty if one alternative
 * has none. With the flag i, the case of the text is not significant. Groups and classes simply end a text.
 */
export function requiredLiterals({ source, flags }: RegExp): readonly string[] {
  // With v, classes can be nested, which this does not parse. With i and u, some ASCII letters match letters that are not ASCII.
  if (flags.includes('v') || (flags.includes('i') && flags.includes('u')) || longer.test(source)) return []
  const longest: string[] = []
  let run = ''
  let best = ''
  const end = () => {
    if (run.length > best.length) best = run
    run = ''
  }
  for (let i = 0; i < source.length; i++) {
    const letter = source[i] as string
    switch (letter) {
      case '|':
        end()
        longest.push(best)
        best = ''
        break
      case '\\': {
        const escaped = source[++i] ?? ''
        if (meaningful.test(escaped)) end()
        else run += escaped
        break
      }
      case '(':
        end()
        i = behindGroup(source, i)
        break
      case '[':
        end()
        i = behindClass(source, i)
        break
      case '?':
      case '*':
      case '{':
        // The character before the quantifier may be missing from a match.
        run = run.replace(/[\ud800-\udbff]?.$/s, '')
        end()
        i += (repetition.exec(source.slice(i))?.[0].length ?? 1) - 1
        break
      case '+':
      case '.':
      case '^':
      case '$':
        end()
        break
      default:
        run += letter
    }
  }
  end()
  longest.push(best)
  return longest.every(text => text !== '') ? longest : []
}

/** The position of the `)` that closes the group opened at `from`. */
function behindGroup(source: string, from: number): number {
  let depth = 0
  for (let i = from; i < source.length; i++) {
    if (source[i] === '\\') i++
    else if (source[i] === '[') i = behindClass(source, i)
    else if (source[i] === '(') depth++
    else if (source[i] === ')' && --depth === 0) return i
  }
  return source.length
}

/** The position of the `]` that closes the class opened at `from`. */
export function behindClass(source: string, from: number): number {
  for (let i = from + 1; i < source.length; i++) {
    if (source[i] === '\\') i++
    else if (source[i] === ']') return i
  }
  return source.length
}
