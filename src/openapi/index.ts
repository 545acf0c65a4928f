/** Answers the operations of OpenAPI documents. Loaded only if the configuration names documents. */
import path from 'node:path'
import type { Loaded } from '../check/problem.js'
import { ProblemsError, problemInWords } from '../check/problem.js'
import type { PathSource } from '../core/exchange.js'
import { lookupMethod } from '../core/paths.js'
import { memoized } from '../core/work.js'
import { stepsOfPath } from '../replies/index.js'
import { createAnswers } from './answers.js'
import { type ConfiguredDocument, createOperationIndex, type DocumentedOperation, operationsOf } from './operations.js'
import type { OpenapiOptions } from './options.js'
import type { ReadInput } from './read.js'
import { createRequestCheck, uncheckedStyles } from './requests.js'
import { documentOf } from './schemas.js'

/** A document that the configuration names. */
interface DocumentInput extends Omit<ConfiguredDocument, 'document' | 'files'>, ReadInput {
  /** The file, as the configuration names it. */
  readonly name: string
}

/** The documents that the configuration names. */
export function documentsIn({
  config: { openapi },
  dir,
}: Loaded<{ readonly openapi: OpenapiOptions }>): readonly DocumentInput[] {
  return [openapi].flat().map(option => {
    const entry = typeof option === 'string' ? { file: option } : option
    const { file: name, validate = true, folders = [], access, prefix } = entry
    const file = path.resolve(dir, name)
    const allowed = [path.dirname(file), dir, ...folders.map(folder => path.resolve(dir, folder))]
    return { name, file, dir, folders: allowed, validate, access, prefix }
  })
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
    parameters
      .filter(({ style }) => uncheckedStyles.has(String(style)))
      .map(
        ({ name, style }) =>
          `${source.document.name}: ${method} ${path}: the parameter ${name} is not checked, because of its style ${style}.`,
      ),
  )

/** Answers the operations of the documents. If several describe the same operation, the first one wins. */
export function createOpenApi(documents: readonly ConfiguredDocument[], seed: number): PathSource {
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
      if (operation.source.validate) await checkOf(operation)(exchange, operation.paramsIn(steps) ?? {})
      return answerOf(operation)(exchange)
    },
  }
}
