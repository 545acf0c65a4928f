/** Who signs in, and with which password: from the flags, from standard input, or from whoever sits at the terminal. */
import { text } from 'node:stream/consumers'
import { UsageError } from '../core/start-error.js'
import type { CommandLine } from './arguments.js'
import { openPrompt } from './prompt.js'

interface Credentials {
  readonly email: string
  readonly password: string
}

/** Throws a UsageError when something is missing and there is nobody to ask. */
export async function credentialsFor(given: CommandLine['given']): Promise<Credentials> {
  const email = given.get('email') as string | undefined
  if (given.has('password-stdin')) {
    if (email === undefined)
      throw new UsageError('--password-stdin needs --email: standard input is the password alone.')
    return { email, password: lineIn(await text(process.stdin)) }
  }
  if (!process.stdin.isTTY) {
    throw new UsageError('There is no terminal to ask for a password on: give --email and --password-stdin.')
  }
  const prompt = openPrompt()
  try {
    return {
      email: email ?? (await prompt.ask('E-mail: ')).trim(),
      password: await prompt.ask('Password: ', { isSecret: true }),
    }
  } finally {
    prompt.close()
  }
}

/** `echo` ends its line, and a password does not. */
function lineIn(input: string): string {
  const password = input.replace(/\r?\n$/, '')
  if (password === '') throw new UsageError('Standard input holds no password.')
  return password
}
