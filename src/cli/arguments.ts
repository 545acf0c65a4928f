/** Reads the command line: the command and its flags. */
import path from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError } from '../check/problem.js'
import { didYouMean } from '../check/suggest.js'
import type { Override } from '../config/load.js'
import { fromText } from '../config/options.js'
import { type Command, type CommandLine, type Flag, type Flags, sharedFlags } from './command.js'
import { commands, findCommand, groupOf, type ListedCommand } from './commands.js'

type ParsedArguments =
  | { readonly kind: 'version' }
  | { readonly kind: 'help'; readonly words: readonly string[] }
  | { readonly kind: 'run'; readonly command: Command<Flags>; readonly line: CommandLine }

export async function readCommandLine(argv: readonly string[]): Promise<ParsedArguments> {
  const { flagTokens, words, hasUnknown } = tokensOf(argv, sharedFlags)
  if (flagTokens.has('version')) return { kind: 'version' }
  if (argv[0] === 'help') return { kind: 'help', words: argv.slice(1) }
  if (flagTokens.has('help')) return { kind: 'help', words }
  // If flags come before the command, only their definitions tell which words are values.
  const listed = argv[0]?.startsWith('-') && hasUnknown ? await commandAfterFlags(argv) : findCommand(words)
  if (!listed) throw await unknownCommand(argv)
  const command = await listed.load()
  return { kind: 'run', command, line: await commandLineOf(argv, listed, command.flags) }
}

async function commandAfterFlags(argv: readonly string[]): Promise<ListedCommand | undefined> {
  const flags = await allFlags()
  const { flagTokens, words } = tokensOf(argv, flags)
  for (const token of flagTokens.values()) await textOf(token, flags)
  return findCommand(words)
}

async function allFlags(): Promise<Flags> {
  const loaded = await Promise.all(commands.map(({ load }) => load()))
  return Object.assign({}, sharedFlags, ...loaded.map(({ flags }) => flags))
}

/** The words that are neither flags nor their values: the command, and its arguments. */
export const wordsOf = async (argv: readonly string[]) => tokensOf(argv, await allFlags()).words

type Token = NonNullable<ReturnType<ReturnType<typeof tokensOf>['flagTokens']['get']>>

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
  const options = tokens.flatMap(token => (token.kind === 'option' && token.index < end ? [token] : []))
  const words = tokens.flatMap(token => (token.kind === 'positional' && token.index < end ? [token] : []))
  return {
    flagTokens: new Map(options.map(token => [token.name, token])),
    hasUnknown: options.some(({ name }) => !Object.hasOwn(flags, name)),
    words: words.map(({ value }) => value),
    /** The position of each word in `argv`. */
    wordIndexes: words.map(({ index }) => index),
    afterTerminator: argv.slice(end + 1),
  }
}

async function commandLineOf(
  argv: readonly string[],
  { name, usage }: ListedCommand,
  own: Flags,
): Promise<CommandLine> {
  const flags: Flags = { ...sharedFlags, ...own }
  const { flagTokens, words, wordIndexes, afterTerminator } = tokensOf(argv, flags)
  const hasChild = usage.includes(' -- ')
  const flagTexts = new Map<string, string>()
  for (const token of flagTokens.values()) {
    // From here on, the flags are the child's.
    if (hasChild && token.index > (wordIndexes[1] ?? argv.length)) break
    flagTexts.set(token.name, await textOf(token, flags))
  }
  const nameWords = name.split(' ')
  // `standin` alone is `standin dev`.
  const beginsWithName = nameWords.every((word, i) => words[i] === word)
  const args = [...(beginsWithName ? words.slice(nameWords.length) : words), ...(hasChild ? [] : afterTerminator)]
  if (hasChild && args[0] !== undefined) {
    throw new UsageError(
      `Put -- before the command, so that its flags are not read as flags of standin: standin ${name} -- ${args[0]}.`,
    )
  }
  requireArgumentCount(args, name, usage)
  const values = Object.entries(flags).map(([name, flag]) => [name, flag.parse(flagTexts.get(name), name)] as const)
  return {
    ...{ name, args, child: hasChild ? afterTerminator : [], overrides: overridesOf(flagTexts, flags) },
    flags: Object.fromEntries(values) as CommandLine['flags'],
  }
}

/** The value of a flag as text; empty for a flag without a value. Rejects with a UsageError. */
async function textOf({ name, rawName, value, inlineValue }: Token, flags: Flags): Promise<string> {
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
  if (!flag) throw await unknownFlag(name, rawName)
  if (flag.type === 'boolean' && value !== undefined) throw new UsageError(`The flag --${name} takes no value.`)
  // "--port --json" is a forgotten number, not a port called "--json". A dash alone is standard input.
  const isMissing = value === undefined || (!inlineValue && value !== '-' && value.startsWith('-'))
  if (flag.type === 'string' && isMissing) {
    throw new UsageError(`The flag --${name} needs a value: --${name} ${flag.value}.`)
  }
  return value ?? ''
}

async function unknownFlag(name: string, rawName: string): Promise<UsageError> {
  const owners: string[] = []
  for (const { name: command, load } of commands) {
    if (Object.hasOwn((await load()).flags, name)) owners.push(`standin ${command}`)
  }
  if (owners.length > 0) {
    return new UsageError(`The flag --${name} belongs to ${new Intl.ListFormat('en-GB').format(owners)}.`)
  }
  const names = Object.keys(await allFlags()).map(name => `--${name}`)
  return new UsageError(`The flag ${rawName} is not known.${didYouMean(rawName, names)}`)
}

/** Throws a UsageError if the command takes more or fewer arguments. */
function requireArgumentCount({ length, 0: first }: readonly string[], name: string, usage: string): void {
  const [parameters = ''] = /(?<= )[[A-Z].*$/.exec(usage.replace(/ -- .*/, '')) ?? []
  const count = parameters.split(' ').filter(Boolean).length
  if (parameters.includes('…') || length === count || (length === 0 && parameters.startsWith('['))) return
  throw new UsageError(
    count === 0 ? `standin ${name} takes no arguments, but got "${first}".` : `Usage: standin ${usage}.`,
  )
}

export async function unknownCommand(argv: readonly string[]): Promise<UsageError> {
  const [first = '', second = ''] = await wordsOf(argv)
  const names = groupOf(first).map(({ name }) => name.split(' ')[1] ?? '')
  if (names.length > 0) {
    return new UsageError(
      second === ''
        ? `standin ${first} needs one of: ${names.join(', ')}.`
        : `standin ${first} ${second} is not a command. Known: ${names.join(', ')}.${didYouMean(second, names)}`,
    )
  }
  const known = new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))
  return new UsageError(`"${first}" is not a command.${didYouMean(first, [...known, 'help'])}`)
}

/** The configuration options that flags set. --mode applies to all endpoints and overrides `modes`. */
function overridesOf(flagTexts: ReadonlyMap<string, string>, flags: Flags): readonly Override[] {
  const overrides = Object.entries(flags).flatMap(([name, { option, isPath }]: [string, Flag]) => {
    const text = flagTexts.get(name)
    if (!option || text === undefined) return []
    // An empty path stays empty, so that it is rejected as it is in a configuration file.
    const value = isPath ? text && path.resolve(text) : fromText(option, text)
    return [{ path: option, value, origin: `--${name}` }]
  })
  const isModeSet = overrides.some(({ path }) => path[0] === 'mode')
  return isModeSet ? [...overrides, { path: ['modes'], value: {}, origin: '--mode' }] : overrides
}
