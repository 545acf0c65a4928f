/** What to do about an answer that is an error. */

/** A sentence for a status; nothing where the error says it all. */
export function adviceFor(status: number | undefined, hadCredential: boolean): string | undefined {
  switch (status) {
    case 400:
      return 'Put right what the sentence names, and try again. The request as it was sent stands below.'
    case 401:
      return hadCredential
        ? 'Choose another credential in the settings. Keys that work are made under API keys.'
        : 'This is what an app gets that sends no key. Choose a credential in the settings to go on.'
    case 413:
      return 'Clear the conversation, or send a shorter text.'
    case 424:
      return 'Nothing that is known here answers this request: write a rule for it, or record it once.'
    case 429:
      return 'Wait for as long as it says, then try again. Limits and faults are set in the configuration and by call.'
    case 500:
    case 502:
    case 503:
    case 504:
      return 'Try again, as an app should. If nobody asked for this fault, the log in the terminal says more.'
    default:
      return undefined
  }
}
