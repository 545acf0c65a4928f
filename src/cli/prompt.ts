/** Asks questions on the terminal; what is secret is not shown while it is typed. */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { StartError } from '../core/start-error.js'

export interface Prompt {
  /** Rejects with a StartError when nobody wants to answer (Ctrl-C, Ctrl-D). */
  ask(question: string, options?: { readonly isSecret: boolean }): Promise<string>
  close(): void
}

/** Questions go to standard error, so that standard output stays what it is without them. */
export function openPrompt(): Prompt {
  // Between questions as well: somebody may paste both answers at once.
  let isMuted = true
  const ahead: string[] = []
  const output = new Writable({
    write(piece, _encoding, done) {
      if (!isMuted) process.stderr.write(piece)
      done()
    },
  })
  const lines = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 })
  lines.on('line', line => ahead.push(line))

  return {
    ask: (question, { isSecret } = { isSecret: false }) =>
      new Promise((resolve, reject) => {
        const left = () => {
          process.stderr.write('\n')
          reject(new StartError('Nobody was signed in.'))
        }
        const answered = (answer: string) => {
          lines.off('close', left)
          if (isMuted) process.stderr.write('\n')
          isMuted = true
          resolve(answer)
        }
        const first = ahead.shift()
        isMuted = isSecret || first !== undefined
        // What is not muted is drawn anew with each key, so it has to know its question.
        if (isMuted) process.stderr.write(question)
        if (first !== undefined) return answered(first)
        lines.once('close', left)
        lines.question(isMuted ? '' : question, answered)
      }),
    close: () => lines.close(),
  }
}
