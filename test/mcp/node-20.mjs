// The conformance suite imports fs.globSync, which Node has since 22. Only its traceability command calls it.
import { register } from 'node:module'

const module = source => `data:text/javascript,${encodeURIComponent(source)}`
const fs = module(`export * from 'node:fs'; export const globSync = undefined`)

register(
  module(`
    const isSuite = url => url?.includes('/@modelcontextprotocol/conformance/')
    export const resolve = (name, context, next) =>
      name === 'fs' && isSuite(context.parentURL) ? { url: ${JSON.stringify(fs)}, shortCircuit: true } : next(name, context)
  `),
)
