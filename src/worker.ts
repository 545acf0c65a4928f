/** The entry point of worker threads: jobs by name, for core/work.ts. */
import { parentPort } from 'node:worker_threads'
import type { JobMessage, JobRequest } from './core/work.js'

/** The code of a job is loaded when the job is first requested. Inputs and results must be copyable. */
const jobs: Readonly<Record<string, () => Promise<(input: never) => unknown>>> = {
  completion: async () => (await import('./platform-api/chat/heavy.js')).completionJob,
  openapi: async () => (await import('./openapi/read.js')).readDocumentJob,
  promptTokens: async () => (await import('./platform-api/chat/heavy.js')).promptTokensJob,
  sample: async () => (await import('./replies/index.js')).sampleJob,
  validate: async () => (await import('./openapi/requests.js')).validateJob,
}

const post = (message: JobMessage) => parentPort?.postMessage(message)

parentPort?.on('message', async ({ job, input }: JobRequest) => {
  try {
    const load = jobs[job]
    if (!load) throw new Error(`There is no job "${job}".`)
    const work = await load()
    post('begun')
    post({ output: await work(input as never) })
  } catch (error) {
    post({ error })
  }
})
