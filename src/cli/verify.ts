/** `standin verify`: checks a target against each rule of the platform's document, and reports which ones it breaks. */
import { text as wholeText } from 'node:stream/consumers'
import { ProblemsError, UsageError } from '../check/problem.js'
import { type Clause, judgeAll, wantedOf } from '../contract/clause.js'
import { clauses } from '../contract/clauses.js'
import { createTarget, type Target, type TargetOptions, USUAL_MAX_CALLS } from '../contract/target.js'
import { NEEDS_LIVE } from '../platform/config/load.js'
import { openPlatform } from '../platform.js'
import { type CommandLine, command, integer, optionFlags, outputFlags, textFlag, toggle } from './command.js'
import { loadedConfig } from './load.js'
import { createReporter } from './report.js'
import { EXIT_STOPPED, stopOnSignals } from './stop-signals.js'
import { clauseCounts, reportOf, type VerifyRun } from './verify-report.js'

const EXIT_BROKEN = 1

const flags = {
  config: { ...optionFlags.config, meaning: 'Configuration file of the fresh stand-in (none)' },
  upstream: { ...optionFlags.upstream, meaning: 'Address of the live platform, for --target live' },
  json: { ...outputFlags.json, meaning: 'Print the report as JSON' },
  quiet: { ...outputFlags.quiet, meaning: 'Print only broken clauses, and no progress' },
  strict: toggle('Also fail if the target differs from decisions of Standin'),
  only: textFlag('GLOB', 'Only these clauses: AUTH-*,Errors,documented'),
  target: textFlag('URL', 'Base URL of the target; live is upstream.baseUrl (a fresh stand-in)'),
  auth: textFlag('URL', 'URL of its auth backend, without /auth/v1 (the same as --target)'),
  'api-key': textFlag('KEY', 'An API key of the target'),
  'anon-key': textFlag('KEY', 'The anon key of the target'),
  email: textFlag('ADDRESS', 'Email address of a user of the target'),
  password: textFlag('TEXT', 'The password for --email'),
  'password-stdin': toggle('Read the password from standard input'),
  model: textFlag('ID', 'The requested model (the first one)'),
  'max-calls': integer([1, 999_999], `Maximum number of calls (${USUAL_MAX_CALLS})`, USUAL_MAX_CALLS),
}

type VerifyLine = CommandLine<typeof flags>

export const verifyCommands = {
  verify: command({
    flags,
    examples: [
      ['standin verify', 'check a fresh stand-in'],
      ['standin verify --only AUTH-*', 'check the rules about credentials'],
      ['standin verify --target live --json > report.json', 'check the live platform in CI'],
    ],
    run: verify,
  }),
}

/** Reports the findings. Sets the exit code to 1 if a documented clause is broken or none could be checked. */
async function verify(line: VerifyLine): Promise<undefined> {
  const { only, strict: isStrict, 'max-calls': maxCalls } = line.flags
  const wanted = wantedClauses(only)
  const reporter = createReporter(line.flags)
  const opened = await openTarget(line)
  const signal = stopOnSignals()
  const startedMs = performance.now()
  const progress = reporter.progress(wanted.length)
  try {
    const target = createTarget({ ...opened.options, maxCalls, signal })
    const findings = await judgeAll({
      target,
      wanted,
      table: clauses,
      begun: ({ id }) => progress.at(id),
      ended: progress.step,
    })
    requireReachable(target, signal)
    progress.end()
    const seconds = (performance.now() - startedMs) / 1000
    const facts = { isOwn: opened.isOwn, findings, maxCalls, seconds, isStrict }
    const run = { ...facts, url: target.url, calls: target.calls() }
    process.exitCode = signal.aborted ? EXIT_STOPPED : exitCodeOf(run)
    await reporter.write(reportOf(run))
  } finally {
    progress.end()
    await opened.close()
  }
}

function wantedClauses(only: string | undefined): readonly Clause[] {
  const wanted = wantedOf(clauses, only)
  if (wanted.length > 0) return wanted
  throw new UsageError(
    `No clause is called "${only}". Use ids such as AUTH-6.1 or HEALTH-*, a section such as Errors, documented or decided.`,
  )
}

function requireReachable(target: Target, { aborted }: AbortSignal): void {
  const why = target.unreachable()
  if (why === undefined || aborted) return
  throw new ProblemsError([{ origin: target.url, sentence: `cannot be reached (${why}).` }])
}

function exitCodeOf(run: VerifyRun): number {
  const { broken, held, different } = clauseCounts(run)
  if (broken > 0) return EXIT_BROKEN
  if (held + different > 0) return 0
  console.error('Nothing could be checked.')
  return EXIT_BROKEN
}

const variables = {
  target: 'VERIFY_TARGET',
  auth: 'VERIFY_AUTH_URL',
  'api-key': 'VERIFY_API_KEY',
  'anon-key': 'VERIFY_ANON_KEY',
  email: 'VERIFY_EMAIL',
  password: 'VERIFY_PASSWORD',
} as const

async function openTarget(line: VerifyLine) {
  const target = line.flags.target ?? process.env[variables.target]
  if (!target) return ownTarget(line)
  return { options: await targetAt(target, line), isOwn: false, close: async () => {} }
}

/** The target at an address, or the live one, with its credentials. */
async function targetAt(address: string, line: VerifyLine): Promise<TargetOptions> {
  const valueFor = await targetValues(line.flags, address)
  const live = address === 'live' ? liveOf(line) : undefined
  const url = live?.url ?? parseBaseUrl('--target', address)
  const auth = valueFor('auth')
  const authUrl = auth === undefined ? live?.authUrl : parseBaseUrl('--auth', auth)
  const credentials = {
    apiKey: valueFor('api-key') ?? live?.apiKey,
    anonKey: valueFor('anon-key') ?? live?.anonKey,
    email: valueFor('email'),
    password: valueFor('password'),
  }
  if ((credentials.email === undefined) !== (credentials.password === undefined)) {
    throw new UsageError(
      'Signing in needs both an email address and a password: --email with --password or --password-stdin.',
    )
  }
  const { model } = line.flags
  return { url, authUrl, model, ...credentials }
}

/** Looks in the flags, then in the environment, but there only if the environment names no other target. */
async function targetValues(flags: VerifyLine['flags'], target: string) {
  const isNamed = [undefined, '', target].includes(process.env[variables.target])
  const passwordInput = flags['password-stdin'] ? (await wholeText(process.stdin)).replace(/\r?\n$/, '') : undefined
  return (name: keyof typeof variables): string | undefined => {
    if (name === 'password' && passwordInput !== undefined) return passwordInput
    return (flags[name] ?? (isNamed ? process.env[variables[name]] : undefined)) || undefined
  }
}

function liveOf(line: VerifyLine) {
  const { baseUrl, authUrl, apiKey, anonKey } = loadedConfig(line).config.upstream
  if (baseUrl === '') throw new UsageError(`--target live ${NEEDS_LIVE}`)
  const unlessEmpty = (text: string) => text || undefined
  const credentials = { apiKey: unlessEmpty(apiKey), anonKey: unlessEmpty(anonKey) }
  return { url: baseUrl, authUrl: unlessEmpty(authUrl), ...credentials }
}

/** A new platform in this process, on any free port and in memory. It reads a configuration only if --config names one. */
async function ownTarget({ flags, overrides }: VerifyLine) {
  const { config, model } = flags
  const unusedFlag = (['auth', 'api-key', 'anon-key', 'email', 'password', 'password-stdin'] as const).find(
    name => flags[name],
  )
  if (unusedFlag !== undefined)
    throw new UsageError(`--${unusedFlag} needs --target: a fresh stand-in has its own credentials.`)
  const ownOptions = [
    { path: ['port'], value: 0, origin: 'standin verify' },
    { path: ['state'], value: 'memory', origin: 'standin verify' },
  ]
  const isOwnOption = ({ path }: { readonly path: readonly string[] }) => path[0] === 'port' || path[0] === 'state'
  const platform = await openPlatform({
    cwd: process.cwd(),
    file: config ?? false,
    flags: [...overrides.filter(override => !isOwnOption(override)), ...ownOptions],
    ...(config !== undefined && { env: process.env }),
  })
  const { url, authUrl, apiKey, anonKey, loaded } = platform
  const user = loaded.config.users.find(({ password }) => typeof password === 'string' && password !== '')
  const options = { url, authUrl, apiKey, anonKey, model, email: user?.email, password: user?.password }
  return { options, isOwn: true, close: () => platform.stop() }
}

function parseBaseUrl(origin: string, input: string): string {
  const url = URL.canParse(input) ? new URL(input) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError(
      `${origin} must be an address such as https://platform.example, not "${withoutPassword(input)}".`,
    )
  }
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`${origin} must not contain a user name or a password.`)
  if (url.search !== '' || url.hash !== '')
    throw new UsageError(`${origin} must not contain a query or a fragment (? or #).`)
  const path = url.pathname.replace(/(?<!\/)\/+$/, '')
  const suffix = ['/api/v1', '/auth/v1', '/v1'].find(end => path.endsWith(end))
  if (suffix !== undefined) throw new UsageError(`${origin} must be the base address: leave out ${suffix}.`)
  return url.origin + path
}

const withoutPassword = (url: string) => url.replace(/(?<![^/@])[^/@]*@/, '…@')
