/** The test files that a run is about, and the command that runs only them. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { isObject, jsonOf } from '../core/json.js'

/** The file with which the name of a test begins: `test/orders.test.ts > orders > finds one`. */
export const testFileOf = (test: string): string | undefined => /^\S.*?\.[cm]?[jt]sx?(?= > | \[|$)/.exec(test)?.[0]

/** How a runner selects a file. */
type Runner = (file: string) => string

/** For Jest and Playwright, which take regular expressions. */
const pattern: Runner = file => file.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const nodeTest: Runner = file => file
const runners: Readonly<Record<string, Runner>> = { vitest: file => file, jest: pattern, playwright: pattern }

/** The command for these test files alone; `undefined` if its runner is not known. */
export function commandFor(
  program: readonly string[],
  files: readonly string[],
  dir = process.cwd(),
): readonly string[] | undefined {
  const [manager = '', ...words] = program
  const script = scriptIn(manager, words, dir)
  const runner = script ? runnerIn(script.line) : runnerIn(program)
  if (!runner || (script && !script.takesWords)) return undefined
  // npm keeps what comes before the dashes for itself.
  const dashes = script && path.parse(manager).name === 'npm' && !program.includes('--') ? ['--'] : []
  return [...program, ...dashes, ...files.map(runner)]
}

interface Script {
  /** Its last command, with the words that are added to it. */
  readonly line: readonly string[]
  /** Whether words that are added reach that command. */
  readonly takesWords: boolean
}

/** What `npm test`, `pnpm run unit` or `yarn e2e` runs. */
function scriptIn(manager: string, words: readonly string[], dir: string): Script | undefined {
  if (!['npm', 'pnpm', 'yarn', 'bun'].includes(path.parse(manager).name)) return undefined
  const [first = '', second = ''] = words.filter(word => word !== '--silent' && word !== '-s')
  const name = first === 'run' || first === 'run-script' ? second : first === 't' ? 'test' : first
  const text = scriptsOf(dir)[name]
  if (typeof text !== 'string') return undefined
  const last = text.split('&&').at(-1)?.trim() ?? ''
  const added = words.slice(words.indexOf(name) + 1).filter(word => word !== '--')
  return { line: [...last.split(/\s+/), ...added], takesWords: !/[;|&<>$`()]/.test(last) }
}

function scriptsOf(dir: string): Readonly<Record<string, unknown>> {
  try {
    const manifest = jsonOf(readFileSync(path.join(dir, 'package.json')))
    return isObject(manifest) && isObject(manifest.scripts) ? manifest.scripts : {}
  } catch {
    return {}
  }
}

/** What starts other programs. */
const launchers = new Set(['npx', 'bunx', 'npm', 'pnpm', 'yarn', 'bun', 'exec', 'cross-env'])

function runnerIn(words: readonly string[]): Runner | undefined {
  const names = words.map(word => path.parse(word).name)
  const start = words.findIndex((word, i) => !launchers.has(names[i] ?? '') && !/^-|^\w+=/.test(word))
  const isRunner = (name: string) => Object.hasOwn(runners, name)
  // `node node_modules/vitest/vitest.mjs` is Vitest, too.
  const own = names[start] === 'node' ? names.slice(start + 1).find(isRunner) : names[start]
  if (own !== undefined) return isRunner(own) ? runners[own] : undefined
  const isFile = (word: string, i: number) =>
    /[*/]|\.[cm]?[jt]sx?$/.test(word) && !/^(-r|--require|--import|--loader)$/.test(words[i - 1] ?? '')
  // Files that the command names would run as well.
  const namesFiles = words.some((word, i) => i > start && isFile(word, i))
  return words.includes('--test') && !namesFiles ? nodeTest : undefined
}
