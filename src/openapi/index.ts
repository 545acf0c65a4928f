/** Answers the operations of OpenAPI documents. Loaded only if the configuration names documents. */
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { pathInWords } from '../check/check.js'
import { type Loaded, type Problem, ProblemsError, problemInWords } from '../check/problem.js'
import { didYouMean } from '../check/suggest.js'
import type { PathSource } from '../core/exchange.js'
import { lookupMethod } from '../core/paths.js'
import { memoized } from '../core/work.js'
import { stepsOfPath } from '../replies/index.js'
import { createAnswers } from './answers.js'
import { type ConfiguredDocument, createOperationIndex, type DocumentedOperation, operationsOf } from './operations.js'
import type { OpenapiOptions } from './options.js'
import type { ReadInput } from './read.js'
import { createRequestCheck, whyUnchecked } from './requests.js'
import { documentOf } from './schemas.js'

/** A document that the configuration names. */
interface DocumentInput extends Omit<ConfiguredDocument, 'document' | 'files'>, ReadInput {
  /** The file, as the configuration names it. */
  readonly name: string
}

/** The documents that the configuration names. Throws a ProblemsError for those that are not files. */
export function documentsIn({
  config: { openapi },
  dir,
  placeOf,
}: Loaded<{ readonly openapi: OpenapiOptions }>): readonly DocumentInput[] {
  const problems: Problem[] = []
  const documents = [openapi].flat().map((option, i) => {
    const entry = typeof option === 'string' ? { file: option } : option
    const { file: name, validate = true, folders = [], access, prefix } = entry
    const file = path.resolve(dir, name)
    const allowed = [path.dirname(file), dir, ...folders.map(folder => path.resolve(dir, folder))]
    const steps = ['openapi', ...(Array.isArray(openapi) ? [i] : []), ...(typeof option === 'string' ? [] : ['file'])]
    const problem = problemWith(name, file)
    if (problem) problems.push({ ...placeOf(steps), sentence: `${pathInWords(steps)}: ${problem}` })
    return { name, file, dir, folders: allowed, validate, access, prefix }
  })
  const files = documents.map(({ file }) => file)
  if (problems.length > 0) throw new ProblemsError(problems, files)
  return documents
}

function problemWith(name: string, file: string): string | undefined {
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(name))
    return `${name} is an address, and only files are read. Download it, and name the file: curl -o openapi.yaml ${name}`
  if (existsSync(file)) return undefined
  const folder = path.dirname(file)
  const others = existsSync(folder) ? readdirSync(folder).filter(other => /\.(ya?ml|json)$/i.test(other)) : []
  const written = others.map(other => path.join(path.dirname(name), other))
  return `there is no file ${name}.${didYouMean(name, written)} Its path is relative to the folder of the configuration.`
}

/** Reads documents. Rejects with a ProblemsError that lists the mistakes of all of them. */
export async function readDocuments(
  inputs: readonly DocumentInput[],
  warn: (sentence: string) => void = () => {},
): Promise<readonly ConfiguredDocument[]> {
  if (inputs.length === 0) return []
  // It takes 200 ms to load.
  const { readDocument } = await import('./read.js')
  const outputs = await Promise.all(inputs.map(readDocument))
  const problems = outputs.flatMap(output => ('problems' in output ? output.problems : []))
  if (problems.length > 0)
    throw new ProblemsError(
      problems,
      outputs.flatMap(({ files }) => files),
    )
  return outputs.flatMap((output, i) => {
    const input = inputs[i]
    if (!input || 'problems' in output) return []
    for (const warning of output.warnings) warn(problemInWords(warning))
    const read = { ...input, document: documentOf(input.name, output.document), files: output.files }
    for (const sentence of uncheckedParameters(read)) warn(sentence)
    return [read]
  })
}

const uncheckedParameters = (source: ConfiguredDocument): readonly string[] =>
  operationsOf(source).flatMap(({ endpoint: { method, path }, parameters }) =>
    parameters.flatMap(parameter => {
      const why = whyUnchecked(source.document, parameter)
      const of = `${source.document.name}: ${method} ${path}`
      return why === undefined ? [] : [`${of}: the parameter ${parameter.name} is not checked: ${why}.`]
    }),
  )

/** Trying more would make the start with a large document much longer. */
const MOST_TRIED = 200

interface OpenApi extends PathSource {
  /** A sentence for each operation that no value can answer. */
  unanswerable(): Promise<readonly string[]>
}

/** Answers the operations of the documents. If several describe the same operation, the first one wins. */
export function createOpenApi(documents: readonly ConfiguredDocument[], seed: number): OpenApi {
  const index = createOperationIndex(documents.flatMap(operationsOf))
  const checkOf = memoized(createRequestCheck)
  const answerOf = memoized((operation: DocumentedOperation) => createAnswers(operation, seed))

  return {
    files: documents.flatMap(({ files }) => files),
    at: path => index.at(stepsOfPath(path)).map(({ endpoint }) => endpoint),
    paths: () => index.all.map(({ endpoint }) => endpoint),
    async answer(exchange) {
      const steps = stepsOfPath(exchange.path)
      const operations = index.at(steps)
      const operationFor = (method: string) => operations.find(({ endpoint }) => endpoint.method === method)
      const operation = operationFor(exchange.method) ?? operationFor(lookupMethod(exchange.method))
      if (!operation) return undefined
      if (operation.source.validate) checkOf(operation)(exchange, operation.paramsIn(steps) ?? {})
      return answerOf(operation).answer(exchange)
    },
    async unanswerable() {
      const sentences: string[] = []
      for (const operation of index.all.slice(0, MOST_TRIED)) {
        const why = await answerOf(operation).whyNone()
        const { method, path } = operation.endpoint
        const { name } = operation.source.document
        if (why) sentences.push(`${name}: ${method} ${path} cannot be answered: ${why}. Give it an example.`)
      }
      return sentences
    },
  }
}
