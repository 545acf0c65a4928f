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
  const { given, words, hasUnknown } = tokensOf(argv, sharedFlags)
  if (given.has('version')) return { kind: 'version' }
  if (argv[0] === 'help') return { kind: 'help', words: argv.slice(1) }
  if (given.has('help')) return { kind: 'help', words }
  // If flags come before the words, the flags determine which of the words is a value.
  const listed = argv[0]?.startsWith('-') && hasUnknown ? await commandBehindFlags(argv) : findCommand(words)
  if (!listed) throw await notFound(argv)
  const command = await listed.load()
  return { kind: 'run', command, line: await lineOf(argv, listed, command.flags) }
}

async function commandBehindFlags(argv: readonly string[]): Promise<ListedCommand | undefined> {
  const flags = await allFlags()
  const { given, words } = tokensOf(argv, flags)
  for (const token of given.values()) await textOf(token, flags)
  return findCommand(words)
}

async function allFlags(): Promise<Flags> {
  const loaded = await Promise.all(commands.map(({ load }) => load()))
  return Object.assign({}, sharedFlags, ...loaded.map(({ flags }) => flags))
}

type Token = NonNullable<ReturnType<ReturnType<typeof tokensOf>['given']['get']>>

/** Splits a command line. Unknown flags are taken for flags without a value. */
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
    given: new Map(options.map(token => [token.name, token])),
    hasUnknown: options.some(({ name }) => !Object.hasOwn(flags, name)),
    words: words.map(({ value }) => value),
    /** The position of each word in `argv`. */
    wordsAt: words.map(({ index }) => index),
    behind: argv.slice(end + 1),
  }
}

async function lineOf(argv: readonly string[], { name, usage }: ListedCommand, own: Flags): Promise<CommandLine> {
  const flags: Flags = { ...sharedFlags, ...own }
  const { given, words: all, wordsAt, behind } = tokensOf(argv, flags)
  const startsChild = usage.includes(' -- ')
  const written = new Map<string, string>()
  for (const token of given.values()) {
    // From here on, the flags are the child's.
    if (startsChild && token.index > (wordsAt[1] ?? argv.length)) break
    written.set(token.name, await textOf(token, flags))
  }
  const isNamed = name.split(' ').every((word, i) => all[i] === word)
  const words = [...(isNamed ? all.slice(name.split(' ').length) : all), ...(startsChild ? [] : behind)]
  if (startsChild && words[0] !== undefined) {
    throw new UsageError(`Put -- before the command, so that its flags are its own: standin ${name} -- ${words[0]}.`)
  }
  requireFitting(words, name, usage)
  const values = Object.entries(flags).map(([name, flag]) => [name, flag.read(written.get(name), name)] as const)
  return {
    ...{ name, words, child: startsChild ? behind : [], overrides: overridesOf(written, flags) },
    flags: Object.fromEntries(values) as CommandLine['flags'],
  }
}

async function textOf({ name, rawName, value, inlineValue }: Token, flags: Flags): Promise<string> {
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
  if (!flag) throw await notTaken(name, rawName)
  if (flag.type === 'boolean' && value !== undefined) throw new UsageError(`The flag --${name} takes no value.`)
  // "--port --json" is a forgotten number, not a port called "--json". A dash alone is standard input.
  const isForgotten = value === undefined || (!inlineValue && value !== '-' && value.startsWith('-'))
  if (flag.type === 'string' && isForgotten) {
    throw new UsageError(`The flag --${name} needs a value: --${name} ${flag.value}.`)
  }
  return value ?? ''
}

async function notTaken(name: string, rawName: string): Promise<UsageError> {
  const takers: string[] = []
  for (const { name: command, load } of commands) {
    if (Object.hasOwn((await load()).flags, name)) takers.push(`standin ${command}`)
  }
  if (takers.length > 0) {
    return new UsageError(`The flag --${name} belongs to ${new Intl.ListFormat('en-GB').format(takers)}.`)
  }
  const names = Object.keys(await allFlags()).map(name => `--${name}`)
  return new UsageError(`The flag ${rawName} is not known.${didYouMean(rawName, names)}`)
}

/** Throws a UsageError if the command takes more or fewer words. */
function requireFitting({ length, 0: first }: readonly string[], name: string, usage: string): void {
  const [parameters = ''] = /(?<= )[[A-Z].*$/.exec(usage.replace(/ -- .*/, '')) ?? []
  const count = parameters.split(' ').filter(Boolean).length
  if (parameters.includes('…') || length === count || (length === 0 && parameters.startsWith('['))) return
  throw new UsageError(
    count === 0 ? `standin ${name} takes no further words, such as ${first}.` : `The usage is standin ${usage}.`,
  )
}

export async function notFound(argv: readonly string[]): Promise<UsageError> {
  const [first = '', second = ''] = tokensOf(argv, await allFlags()).words
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
function overridesOf(written: ReadonlyMap<string, string>, flags: Flags): readonly Override[] {
  const set = Object.entries(flags).flatMap(([name, { option, isPath }]: [string, Flag]) => {
    const text = written.get(name)
    if (!option || text === undefined) return []
    // An empty path stays empty, so that it is rejected as it is in a configuration file.
    const value = isPath ? text && path.resolve(text) : fromText(option, text)
    return [{ path: option, value, origin: `--${name}` }]
  })
  const isModeSet = set.some(({ path }) => path[0] === 'mode')
  return isModeSet ? [...set, { path: ['modes'], value: {}, origin: '--mode' }] : set
}
