/** Reads the command line: the command and its flags. */
import path from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError } from '../check/problem.js'
import { didYouMean } from '../check/suggest.js'
import type { Override } from '../platform/config/load.js'
import { fromText } from '../platform/config/options.js'
import { type Command, type CommandLine, type Flag, type Flags, flagsOfAll } from './command.js'
import { commands, findCommand, groupOf, type ListedCommand, otherNames } from './commands.js'
import { inShell } from './output.js'

type ParsedArguments =
  | { readonly kind: 'version' }
  | { readonly kind: 'help'; readonly words: readonly string[] }
  | { readonly kind: 'run'; readonly command: Command<Flags>; readonly line: CommandLine }

export async function readCommandLine(argv: readonly string[]): Promise<ParsedArguments> {
  if (/^(help|--help|-h)$/.test(argv[0] ?? '')) return { kind: 'help', words: argv.slice(1) }
  const words = leadingWords(argv)
  const listed = findCommand(words)
  if (listed && takesChild(listed)) requireTerminator(argv, listed, (await listed.load()).flags)
  const given = tokensOf(argv, flagsOfAll).flagTokens.map(({ name }) => name)
  if (given.includes('version')) return { kind: 'version' }
  if (given.includes('help')) return { kind: 'help', words }
  if (!listed) throw unknownCommand(words)
  const command = await listed.load()
  return { kind: 'run', command, line: await commandLineOf(argv, listed, command.flags) }
}

/** The words before the first flag: the command, and its arguments. Without any, the command is `dev`. */
export function leadingWords(argv: readonly string[]): readonly string[] {
  const firstFlag = argv.findIndex(word => word.startsWith('-'))
  return firstFlag < 0 ? argv : argv.slice(0, firstFlag)
}

type Token = ReturnType<typeof tokensOf>['flagTokens'][number]

/** Splits a command line. Unknown flags are treated as flags without a value. */
function tokensOf(argv: readonly string[], flags: Flags) {
  const { tokens } = parseArgs({
    args: [...argv],
    options: flags,
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const end = tokens.find(({ kind }) => kind === 'option-terminator')?.index ?? argv.length
  return {
    flagTokens: tokens.flatMap(token => (token.kind === 'option' && token.index < end ? [token] : [])),
    words: tokens.flatMap(token => (token.kind === 'positional' && token.index < end ? [token.value] : [])),
    firstWord: tokens.find(({ kind, index }) => kind === 'positional' && index < end)?.index,
    afterTerminator: argv.slice(end + 1),
  }
}

/** Whether a command runs another one, which comes after `--`. */
const takesChild = ({ usage }: ListedCommand) => usage.includes(' -- ')

/** Throws a UsageError with the whole command line if the command to run has no `--` before it: its flags would be read as ours. */
function requireTerminator(argv: readonly string[], { name }: ListedCommand, flags: Flags): void {
  const given = argv.slice(name.split(' ').length)
  const { firstWord } = tokensOf(given, flags)
  if (firstWord === undefined) return
  const child = given.slice(firstWord)
  // One word with spaces is a command in quotes.
  const typed = child.length === 1 ? child : child.map(inShell)
  const line = ['standin', name, ...given.slice(0, firstWord).map(inShell), '--', ...typed].join(' ')
  throw new UsageError(`Put -- before the command, so that its flags are not read as flags of standin: ${line}.`)
}

async function commandLineOf(argv: readonly string[], listed: ListedCommand, flags: Flags): Promise<CommandLine> {
  const { name, usage } = listed
  const { flagTokens, words, afterTerminator } = tokensOf(argv, flags)
  const hasChild = takesChild(listed)
  const ownWords = leadingWords(argv).length === 0 ? words : words.slice(name.split(' ').length)
  const flagTexts = new Map<string, string>()
  for (const token of flagTokens) flagTexts.set(token.name, await flagText(token, flags))
  const args = hasChild ? [] : [...ownWords, ...afterTerminator]
  requireArgumentCount(args, name, usage)
  const values = Object.entries(flags).map(([name, flag]) => [name, flag.parse(flagTexts.get(name), name)] as const)
  return {
    name,
    word: words[0] ?? name,
    args,
    child: hasChild ? afterTerminator : [],
    overrides: overridesOf(flagTexts, flags),
    flags: Object.fromEntries(values) as CommandLine['flags'],
  }
}

/** The value of a flag as text; empty for a flag without a value. Rejects with a UsageError. */
async function flagText({ name, rawName, value, inlineValue }: Token, flags: Flags): Promise<string> {
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
  if (!flag) throw await unfittingFlag(name, rawName)
  if (flag.type === 'boolean' && value !== undefined) throw new UsageError(`The flag --${name} takes no value.`)
  // "--port --json" is a forgotten number, not a port called "--json". A dash alone is standard input.
  const isMissing = value === undefined || (!inlineValue && value !== '-' && value.startsWith('-'))
  if (flag.type === 'string' && isMissing) {
    throw new UsageError(`The flag --${name} needs a value: --${name} ${flag.value}.`)
  }
  return value ?? ''
}

async function unfittingFlag(name: string, rawName: string): Promise<UsageError> {
  const loaded = await Promise.all(commands.map(async ({ name, load }) => ({ name, flags: (await load()).flags })))
  const owners = loaded.flatMap(command => (Object.hasOwn(command.flags, name) ? [`standin ${command.name}`] : []))
  if (owners.length > 0) {
    return new UsageError(`The flag --${name} belongs to ${new Intl.ListFormat('en-GB').format(owners)}.`)
  }
  const names = [flagsOfAll, ...loaded.map(({ flags }) => flags)].flatMap(flags => Object.keys(flags))
  const known = names.map(name => `--${name}`)
  return new UsageError(`The flag ${rawName} is not known.${didYouMean(rawName, known)}`)
}

function requireArgumentCount({ length, 0: first }: readonly string[], name: string, usage: string): void {
  const [parameters = ''] = /(?<= )[[A-Z].*$/.exec(usage.replace(/ -- .*/, '')) ?? []
  const count = parameters.split(' ').filter(Boolean).length
  if (parameters.includes('…') || length === count || (length === 0 && parameters.startsWith('['))) return
  throw new UsageError(
    count === 0 ? `standin ${name} takes no arguments, but got "${first}".` : `Usage: standin ${usage}.`,
  )
}

export function unknownCommand([first = '', second = '']: readonly string[]): UsageError {
  const names = groupOf(first).map(({ name }) => name.split(' ')[1] ?? '')
  if (names.length > 0) {
    return new UsageError(
      second === ''
        ? `standin ${first} needs one of: ${names.join(', ')}.`
        : `standin ${first} ${second} is not a command. Known: ${names.join(', ')}.${didYouMean(second, names)}`,
    )
  }
  const known = new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))
  return new UsageError(`"${first}" is not a command.${didYouMean(first, [...known, ...otherNames.keys(), 'help'])}`)
}

/** The configuration options that flags set. --mode applies to all endpoints and overrides `modes`. */
function overridesOf(flagTexts: ReadonlyMap<string, string>, flags: Flags): readonly Override[] {
  const overrides = Object.entries(flags).flatMap(([name, { type, option, isPath }]: [string, Flag]) => {
    const text = flagTexts.get(name)
    if (!option || text === undefined) return []
    // An empty path stays empty, so that it is rejected as it is in a configuration file.
    const value = isPath ? text && path.resolve(text) : type === 'boolean' || fromText(option, text)
    return [{ path: option, value, origin: `--${name}` }]
  })
  const isModeSet = overrides.some(({ path }) => path[0] === 'mode')
  return isModeSet ? [...overrides, { path: ['modes'], value: {}, origin: '--mode' }] : overrides
}
