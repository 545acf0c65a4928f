/** Answers the operations of OpenAPI documents. Loaded only if the configuration names documents. */
import path from 'node:path'
import { ProblemsError, problemInWords } from '../check/problem.js'
import type { LoadedConfig } from '../config/load.js'
import type { PathSource } from '../core/exchange.js'
import { lookupMethod } from '../core/paths.js'
import { importOnce, inWorker, memoized, TimeLimitError } from '../core/work.js'
import { stepsOfPath } from '../replies/index.js'
import { createAnswers } from './answers.js'
import { documentOf } from './document.js'
import { type ConfiguredDocument, createOperationIndex, type DocumentedOperation, operationsOf } from './operations.js'
import type { ReadInput, ReadOutput } from './read.js'
import { createRequestCheck } from './requests.js'

/** A document that the configuration names. */
interface DocumentInput extends Omit<ConfiguredDocument, 'document' | 'files'>, ReadInput {
  /** The file, as the configuration names it. */
  readonly name: string
}

/** The documents that the configuration names. */
export function documentsIn({ config: { openapi }, dir }: LoadedConfig): readonly DocumentInput[] {
  return [openapi].flat().map(option => {
    const entry = typeof option === 'string' ? { file: option } : option
    const { file: name, validate = true, folders = [], access, prefix } = entry
    const file = path.resolve(dir, name)
    const allowed = [path.dirname(file), dir, ...folders.map(folder => path.resolve(dir, folder))]
    return { name, file, dir, folders: allowed, validate, access, prefix }
  })
}

/** The largest documents take a few seconds. */
const LONGEST_MS = 120_000

/** Reads documents, each in a worker. Rejects with a ProblemsError that lists the mistakes of all of them. */
export async function readDocuments(
  inputs: readonly DocumentInput[],
  warn: (sentence: string) => void = () => {},
): Promise<readonly ConfiguredDocument[]> {
  const outputs = await Promise.all(inputs.map(read))
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
    return [{ ...input, document: documentOf(input.name, output.document), files: output.files }]
  })
}

async function read({ file, dir, folders, name }: DocumentInput): Promise<ReadOutput> {
  const reading = inWorker<ReadOutput>('openapi', { file, dir, folders } satisfies ReadInput, LONGEST_MS)
  return reading.catch(error => {
    if (!(error instanceof TimeLimitError)) throw error
    return { problems: [{ origin: name, sentence: `cannot be read: ${error.message}` }], files: [file] }
  })
}

/** Returns a function that describes the operations of a document. Its code is loaded when it is first needed. */
function createDescribe({ document }: ConfiguredDocument) {
  const descriptions = importOnce(async () => (await import('./descriptions.js')).createDescriptions(document))
  return async (operation: DocumentedOperation) => (await descriptions())(operation)
}

/** Answers the operations of the documents. If several describe the same operation, the first one wins. */
export function createOpenApi(documents: readonly ConfiguredDocument[], seed: number): PathSource {
  const index = createOperationIndex(documents.flatMap(one => operationsOf(one, createDescribe(one))))
  const checkOf = memoized(createRequestCheck)
  const answerOf = memoized((operation: DocumentedOperation) => createAnswers(operation, seed))

  return {
    files: documents.flatMap(({ files }) => files),
    at: path => index.at(stepsOfPath(path)).map(({ endpoint }) => endpoint),
    paths: () => index.all.map(({ endpoint }) => endpoint),
    async answer(exchange) {
      const steps = stepsOfPath(exchange.path)
      const method = lookupMethod(exchange.method)
      const operation = index.at(steps).find(({ endpoint }) => endpoint.method === method)
      if (!operation) return undefined
      const params = operation.paramsIn(steps) ?? {}
      if (operation.source.validate) await checkOf(operation)(exchange, params)
      return answerOf(operation)(exchange, params)
    },
  }
}
