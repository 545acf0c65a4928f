/** Reads off a regular expression which text must be in everything that it matches, so that rules can be found by it. */

/** Letters that mean something behind a backslash: classes and anchors. */
const meaningful = /[a-z]/i
/** Those with which more belongs to what they mean: code points, properties, back references. */
const longer = /\\[xuckpP\d]/
/** How often what stands before it repeats. */
export const repetition = /^\{\d+(,\d*)?\}/

/**
 * For each alternative of `expression` the longest text that is in everything it matches, in whatever case where the expression does not
 * mind; nothing at all when an alternative has none. Careful rather than clever: groups and classes end a text and add nothing to it.
 */
export function requiredLiterals({ source, flags }: RegExp): readonly string[] {
  // With v a class can hold others, which is more than is read here; with i and u some ASCII letters match others that are not.
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
        // The letter before it may be missing.
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

/** The place of the `)` that closes the group opened at `from`. */
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

/** The place of the `]` that closes the class opened at `from`. */
export function behindClass(source: string, from: number): number {
  for (let i = from + 1; i < source.length; i++) {
    if (source[i] === '\\') i++
    else if (source[i] === ']') return i
  }
  return source.length
}
