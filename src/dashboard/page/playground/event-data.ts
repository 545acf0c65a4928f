/** Takes the text of server-sent events apart, wherever the network cut it (HTML standard, "Interpreting an event stream"). */

export interface EventData {
  /** What the events say that are complete with this text. */
  push(text: string): readonly string[]
  /** Whether something came behind the last event that is complete. */
  isHalfway(): boolean
}

export function createEventData(): EventData {
  let line = ''
  let values: string[] = []
  let afterReturn = false

  /** Reads a line that is complete; gives back what an event says that it ends. */
  function read(complete: string): string | undefined {
    if (complete.startsWith('data:')) values.push(complete.slice('data:'.length).replace(/^ /, ''))
    if (complete !== '' || values.length === 0) return undefined
    const said = values.join('\n')
    values = []
    return said
  }

  return {
    push(text) {
      // Half of a CRLF may have come with the text before.
      const rest = afterReturn && text.startsWith('\n') ? text.slice(1) : text
      if (text !== '') afterReturn = text.endsWith('\r')
      const lines = (line + rest).split(/\r\n|\r|\n/)
      line = lines.pop() ?? ''
      return lines.flatMap(complete => read(complete) ?? [])
    },
    isHalfway: () => line !== '' || values.length > 0,
  }
}
