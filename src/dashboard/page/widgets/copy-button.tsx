/** Copies a text to the clipboard and confirms it. */
import { useEffect, useState } from 'preact/hooks'
import { announce } from './announcer.jsx'
import { Button } from './button.jsx'

const CONFIRMED_MS = 2000

interface Props {
  readonly text: string
  /** What is copied, for screen readers: `key`, `base URL`. */
  readonly what: string
  readonly bare?: boolean
  readonly main?: boolean
  /** The label, if not `Copy`. */
  readonly words?: string
}

export function CopyButton({ text, what, bare = false, main = false, words = 'Copy' }: Props) {
  const tone = bare ? 'bare' : main ? 'main' : undefined
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), CONFIRMED_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    const done = await writeClipboard(text)
    setCopied(done)
    announce(done ? `Copied ${what}.` : `The browser does not allow copying ${what}. Select it and copy it by hand.`)
  }
  return (
    <Button
      small={tone === undefined}
      tone={tone}
      icon={copied ? 'check' : 'copy'}
      aria-label={`${copied ? 'Copied' : 'Copy'} ${what}`}
      onClick={copy}
    >
      {/* The word stays, so that the layout does not shift. */}
      {!bare && words}
    </Button>
  )
}

/** Browsers allow clipboard writes only on localhost and over https. Elsewhere it falls back to the old copy command. */
export async function writeClipboard(text: string): Promise<boolean> {
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
  // Inside an open dialog, only elements of the dialog can be selected.
  const place = before?.closest('dialog') ?? document.body
  place.append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus()
  return done
}
