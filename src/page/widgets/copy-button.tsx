/** Copies a text, and says so. */
import { useEffect, useState } from 'preact/hooks'
import { announce } from './announcer.jsx'
import { Icon } from './icon.jsx'

/** How long the button says that it did. */
const SAID_MS = 2000

interface Props {
  readonly text: string
  /** What is copied, for those who hear the button: `key`, `base URL`. */
  readonly what: string
  /** Whether the drawing alone is shown. */
  readonly bare?: boolean
  readonly main?: boolean
  /** What the button says, where `Copy` alone does not. */
  readonly words?: string
}

export function CopyButton({ text, what, bare = false, main = false, words = 'Copy' }: Props) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SAID_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    const done = await write(text)
    setCopied(done)
    announce(done ? `Copied ${what}.` : `The browser does not let ${what} be copied. Select it and copy it by hand.`)
  }
  const look = bare ? 'button button-bare' : main ? 'button button-main' : 'button button-small'
  return (
    <button type="button" class={look} aria-label={`${copied ? 'Copied' : 'Copy'} ${what}`} onClick={copy}>
      <Icon name={copied ? 'check' : 'copy'} />
      {!bare && <span class="copy-word">{copied ? 'Copied' : words}</span>}
    </button>
  )
}

/** Browsers let pages write to the clipboard on this machine's own addresses and on https only; elsewhere the old way is left. */
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'unseen'
  const before = document.activeElement
  // Inside an open dialog nothing outside of it can be selected.
  const place = before?.closest('dialog') ?? document.body
  place.append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus()
  return done
}
