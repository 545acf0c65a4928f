/** What the model is told before everything else. */

import { TextArea } from '../widgets/text-area.jsx'
import { edit } from './conversation.js'

export function SystemMessage({ text }: { readonly text: string }) {
  return (
    <details class="fold">
      <summary>
        System message <span class="fold-note">{text.trim() === '' ? 'none' : text}</span>
      </summary>
      <div class="fold-content">
        <TextArea
          label="System message"
          bare
          value={text}
          onChange={system => edit({ system })}
          placeholder="You are a helpful assistant."
          hint="It is sent before the conversation, from the next message on."
        />
      </div>
    </details>
  )
}
