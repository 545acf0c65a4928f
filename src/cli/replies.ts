/** `standin replies …`: shows what the rules would answer, and checks them. */
import { readFileSync } from 'node:fs'
import { check as checkForm } from '../check/check.js'
import { UsageError, unreadable, wordProblem } from '../check/problem.js'
import { type ChatRequest, chatRequest } from '../completions/request.js'
import { jsonSchemaOf } from '../config/json-schema.js'
import { replyFilesOf } from '../config/load.js'
import { inWords } from '../core/exchange.js'
import {
  createReplies,
  type Explanation,
  type Generation,
  linesOf,
  lint,
  loadRules,
  rulesSchema,
  verdictOf,
} from '../replies/index.js'
import { type CommandLine, load } from './arguments.js'

/** The JSON Schema of rule files. */
export function repliesJsonSchema(): Promise<string> {
  return jsonSchemaOf(rulesSchema, 'Rules of what the emulated model says')
}

/** Lints the rules; any finding makes the exit code 1. Rejects with a ProblemsError for rules that cannot be read. */
export async function checkReplies(commandLine: CommandLine): Promise<string> {
  const loaded = load(commandLine)
  const { config } = loaded
  const { rules } = await loadRules(replyFilesOf(loaded), config.seed)
  const models = config.models.map(({ id }) => id)
  const findings = lint(rules, models)
  if (findings.length === 0)
    return `The rules are good. There ${rules.length === 1 ? 'is 1' : `are ${rules.length}`}.\n`
  process.exitCode = 1
  return findings.map(({ place, sentence }) => `${wordProblem({ origin: place, sentence })}\n`).join('')
}

/** Shows which rule answers a prompt and why, and why the others do not match. */
export async function tryReplies(commandLine: CommandLine): Promise<string> {
  const loaded = load(commandLine)
  const { seed, strict, models } = loaded.config
  const { rules } = await loadRules(replyFilesOf(loaded), seed)
  const request = requestFrom(commandLine, models[0]?.id ?? '')
  const replies = createReplies({ rules, seed, strict: false, magic: false })
  const explanation = replies.explain(request)
  const said = await explanation.says()
  const hint = replies.misfit(request, said)?.()
  return `${[...verdict(explanation, said, strict), ...(hint ? [`  → ${hint}`] : []), ...others(explanation)].join('\n')}\n`
}

function verdict({ rule, nearest }: Explanation, said: Generation, strict: boolean): readonly string[] {
  if (!rule) {
    const instead = strict
      ? ['strict is on, so the request is refused (424).']
      : [`${inWords(said.answeredBy)} instead:`, ...shown(said)]
    return ['No rule answers.', nearest(), '', ...instead]
  }
  return [`${rule.title} (${rule.place}) answers.`, `  ${verdictOf(rule)}`, '', ...shown(said)]
}

function others({ passed }: Explanation): readonly string[] {
  const others = passed().map(({ rule, reasons }) => `  ${rule.title} (${rule.place}): ${reasons.join('; ')}`)
  return others.length === 0 ? [] : ['', 'Passed over:', ...others]
}

const shown = (said: Generation): readonly string[] => linesOf(said).map(line => `  ${line.replaceAll('\n', '\n  ')}`)

/** The request that the flags and the prompt describe. Throws a UsageError for flags that do not fit. */
function requestFrom({ words: [, , ...prompt], given }: CommandLine, firstModel: string): ChatRequest {
  const text = (flag: string) => given.get(flag) as string | undefined
  const file = text('request')
  const base = file === undefined ? {} : jsonIn(file)
  const system = text('system')
  const tools = text('tools')?.split(',')
  const messages = [
    ...(system === undefined ? [] : [{ role: 'system', content: system }]),
    ...(prompt.length === 0 ? [] : [{ role: 'user', content: prompt.join(' ') }]),
  ]
  if (messages.length === 0 && file === undefined) {
    throw new UsageError('standin replies try needs a prompt: standin replies try "What is the weather?"')
  }
  const described = {
    model: text('model') ?? firstModel,
    ...base,
    ...(text('model') !== undefined && { model: text('model') }),
    ...(messages.length > 0 && { messages }),
    ...(given.has('stream') && { stream: true }),
    ...(tools && { tools: tools.map(name => ({ type: 'function', function: { name: name.trim() } })) }),
  }
  const checked = checkForm(chatRequest, described, { firstOnly: true, whole: 'The request' })
  if ('value' in checked) return checked.value
  throw new UsageError(`This is no chat request: ${checked.mistakes[0]?.sentence}`)
}

function jsonIn(file: string): object {
  try {
    // 0 is standard input.
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'))
  } catch (error) {
    const isSyntax = error instanceof SyntaxError
    throw new UsageError(isSyntax ? `${file} is not JSON: ${error.message}.` : wordProblem(unreadable(file, error)))
  }
}
