/** `standin replies try`: shows what the rules would answer. */
import { type ChatRequest, chatRequest } from '../chat/request.js'
import { check as checkForm } from '../check/check.js'
import { readText, UsageError } from '../check/problem.js'
import { sourceInWords } from '../core/reply.js'
import { namedModels } from '../endpoints/options.js'
import { mcpServers } from '../mcp/options.js'
import { replyFilesOf } from '../platform/config/load.js'
import {
  createReplies,
  type Explanation,
  linesOf,
  loadRules,
  type Replies,
  type TriedCall,
  type TriedRequest,
  verdictOf,
  writtenCall,
} from '../replies/index.js'
import { type CommandLine, command, configFlag, fileName, optionFlags, textFlag, toggle } from './command.js'
import { loadedConfig } from './load.js'

const requestFlags = {
  ...configFlag,
  seed: optionFlags.seed,
  model: textFlag('ID', 'The requested model (the first one)'),
  system: textFlag('TEXT', 'A system message before the prompt'),
  tools: textFlag('NAMES', 'Names of the tools of the request: a,b'),
  stream: toggle('Request a stream'),
  request: fileName('A file with a chat request as JSON; - is standard input'),
  body: textFlag('TEXT', 'The body, if PROMPT is a method and a path such as "POST /builder/projects"'),
}

/** Shows which rule answers a prompt and why, and why the others do not match. */
const tryReplies = command({
  flags: requestFlags,
  async run(line) {
    const loaded = loadedConfig(line)
    const { seed, strict, models } = loaded.config
    const { rules } = await loadRules(replyFilesOf(loaded), seed)
    const replies = createReplies({ rules, seed, strict: false })
    const call = writtenCall(line.args.join(' '))
    if (call) return explainCall({ ...call, server: [...mcpServers(loaded.config.mcp).keys()][0] ?? '/mcp' }, replies)
    const pathRequest = pathRequestIn(line)
    if (pathRequest) return explainPath(pathRequest, replies)
    const request = requestFrom(line, namedModels(models)[0] ?? '')
    const explanation = replies.explain(request)
    const generation = await explanation.reply()
    const hint = replies.mismatch(request, generation)?.()
    const answerLines = [...linesOf(generation), ...(hint ? [`→ ${hint}`] : [])]
    const answeredBy = sourceInWords(generation.answeredBy)
    if (generation.answeredBy.kind === 'magic')
      return `${[`${answeredBy} answers, before any rule.`, '', ...indented(answerLines)].join('\n')}\n`
    const fallback = strict
      ? ['strict is on, so the request is refused (424).']
      : [`Answer without a rule (${answeredBy}):`, ...indented(answerLines)]
    return explanationText(explanation, answerLines, ['', ...fallback])
  },
})

const requestPattern = /^(GET|HEAD|POST|PUT|PATCH|DELETE) \/\S*$/

/** The request if the prompt is a method and a path, such as `POST /builder/projects?dry=1`. */
function pathRequestIn({ args, flags: { body } }: CommandLine<typeof requestFlags>): TriedRequest | undefined {
  const prompt = args.join(' ')
  if (!requestPattern.test(prompt)) {
    if (body === undefined) return undefined
    throw new UsageError(
      '--body needs a method and a path: standin replies try "POST /builder/projects" --body \'{}\'.',
    )
  }
  const [method = '', path = ''] = prompt.split(' ')
  return { method, path, body }
}

async function explainPath(request: TriedRequest, { http }: Replies): Promise<string> {
  const explanation = await http?.explain(request)
  if (!http || !explanation) return 'There are no rules for paths.\n'
  return replyText(explanation, http.linesOf)
}

async function explainCall(request: TriedCall, replies: Replies): Promise<string> {
  const { explain, linesOf } = await replies.mcp()
  return replyText(explain(request), linesOf)
}

const replyText = async <T>(explanation: Explanation<T>, linesOf: (generation: T) => readonly string[]) =>
  explanationText(explanation, explanation.rule ? linesOf(await explanation.reply()) : [])

/** `answerLines` show the answer of the rule, and `otherwise` what happens if no rule answers. */
function explanationText(
  { rule, nearest, triedBefore }: Explanation<unknown>,
  answerLines: readonly string[],
  otherwise: readonly string[] = [],
): string {
  const answer = rule
    ? [`${rule.title} (${rule.place}) answers.`, `  ${verdictOf(rule)}`, '', ...indented(answerLines)]
    : ['No rule answers.', nearest(), ...otherwise]
  const others = triedBefore().map(({ rule, reasons }) => `  ${rule.title} (${rule.place}): ${reasons.join('; ')}`)
  return `${[...answer, ...(others.length === 0 ? [] : ['', 'Skipped:', ...others])].join('\n')}\n`
}

export const replyCommands = { 'replies try': tryReplies }

const indented = (lines: readonly string[]) => lines.map(line => `  ${line.replaceAll('\n', '\n  ')}`)

/** Builds the request from the flags and the prompt. Throws a UsageError for flags that do not go together. */
function requestFrom({ args, flags }: CommandLine<typeof requestFlags>, firstModel: string): ChatRequest {
  const { model, system, request: file, stream } = flags
  const tools = flags.tools?.split(',')
  const base = file === undefined ? {} : jsonIn(file)
  const messages = [
    ...(system === undefined ? [] : [{ role: 'system', content: system }]),
    ...(args.length === 0 ? [] : [{ role: 'user', content: args.join(' ') }]),
  ]
  if (messages.length === 0 && file === undefined) {
    throw new UsageError('standin replies try needs a prompt: standin replies try "What is the weather?".')
  }
  const body = {
    model: firstModel,
    ...base,
    ...(model !== undefined && { model }),
    ...(messages.length > 0 && { messages }),
    ...(stream && { stream }),
    ...(tools && { tools: tools.map(name => ({ type: 'function', function: { name: name.trim() } })) }),
  }
  const checked = checkForm(chatRequest, body, { firstOnly: true, whole: 'The request' })
  if ('value' in checked) return checked.value
  throw new UsageError(`This is not a chat request: ${checked.mistakes[0]?.sentence}`)
}

function jsonIn(file: string): object {
  try {
    return JSON.parse(readText(file === '-' ? 0 : file, file))
  } catch (error) {
    throw error instanceof SyntaxError ? new UsageError(`${file} is not JSON: ${error.message}.`) : error
  }
}
