/** Checks the results of tools against their outputSchema, as official clients do, which refuse what does not fit. */
import { TooManySteps, validatorOf } from '../check/json-schema.js'
import type { Problem } from '../check/problem.js'
import { answersTool, type McpGeneration, type ReadyRule } from '../replies/index.js'
import { type LoadedMcp, type McpTool, mcpServers } from './options.js'

type Output = Pick<McpGeneration['content'], 'structuredContent' | 'isError'>

/** What is wrong with the result of a tool, as a sentence; `undefined` if nothing is, or if it has no outputSchema. */
export function outputMistake({ name, outputSchema }: McpTool, { structuredContent, isError }: Output) {
  if (!outputSchema || isError) return undefined
  if (structuredContent === undefined)
    return `The result of ${name} has no structuredContent, which its outputSchema asks for: clients refuse it.`
  try {
    const [mistake] = validatorOf(outputSchema, true)(structuredContent, {
      firstOnly: true,
      whole: 'structuredContent',
    })
    return mistake && `The result of ${name} does not fit its outputSchema: ${mistake.sentence}`
  } catch (error) {
    if (error instanceof TooManySteps) return undefined
    throw error
  }
}

/** The rules whose answers to a tool never fit. Answers that depend on the call are checked when they are given. */
export function misfittingRules({ config }: LoadedMcp, rules: readonly ReadyRule[]): readonly Problem[] {
  return [...mcpServers(config.mcp)].flatMap(([server, { tools }]) =>
    tools.flatMap(tool =>
      rules
        .filter(rule => answersTool(rule, server, tool.name))
        .flatMap(rule => {
          const results = rule.replies.map(({ always }) => always as McpGeneration | undefined)
          const sentences = results.map(result => result && !fails(result) && outputMistake(tool, result.content))
          return sentences.flatMap(sentence => (sentence ? [{ origin: rule.place, sentence }] : []))
        }),
    ),
  )
}

const fails = ({ error, fault, protocolFault }: McpGeneration) => Boolean(error ?? fault ?? protocolFault)
