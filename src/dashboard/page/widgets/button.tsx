/** Buttons: small icons, one that copies a text, and one that opens a popover. */
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { useAction } from './action.js'
import { announce } from './shared.js'

const drawings = {
  alert: 'M8 5.2v3.6M8 11.2v.1M8 2.2 14.2 13H1.8L8 2.2Z',
  check: 'm3 8.6 3.2 3.2L13 5',
  chevron: 'm4.5 6.2 3.5 3.6 3.5-3.6',
  copy: 'M5.8 5.8V3.4c0-.5.4-.9.9-.9h5.9c.5 0 .9.4.9.9v5.9c0 .5-.4.9-.9.9h-2.4M3.4 5.8h5.9c.5 0 .9.4.9.9v5.9c0 .5-.4.9-.9.9H3.4a.9.9 0 0 1-.9-.9V6.7c0-.5.4-.9.9-.9Z',
  link: 'M9.2 2.8h4v4M13 3 7.4 8.6M11.2 9.6v2.6c0 .5-.4 1-1 1H3.8c-.6 0-1-.5-1-1V5.8c0-.6.4-1 1-1h2.6',
  pause: 'M5.6 3.6v8.8M10.4 3.6v8.8',
  play: 'M5 3.4v9.2L12.4 8 5 3.4Z',
  plus: 'M8 3.2v9.6M3.2 8h9.6',
  undo: 'M5.6 3.4 2.8 6.2 5.6 9M3.2 6.2h5.6a3.6 3.6 0 0 1 0 7.2H6.4',
} as const

type IconName = keyof typeof drawings

/** A decorative icon, hidden from screen readers. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path
      d={drawings[name]}
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  </svg>
)

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly small?: boolean
  /** Its role: the main button, one that leads to a deletion, one that deletes, or one without a frame. */
  readonly tone?: 'main' | 'warns' | 'danger' | 'bare' | undefined
  readonly icon?: IconName
  /** What it acts on, for screen readers, such as the name of its row. */
  readonly about?: string | undefined
}

export function Button({ small = false, tone, icon, about, class: own, children, ...button }: ButtonProps) {
  const look = ['button', small && 'button-small', tone && `button-${tone}`, own]
  return (
    <button type="button" class={look.filter(Boolean).join(' ')} {...button}>
      {icon && <Icon name={icon} />}
      {children}
      {about !== undefined && <span class="unseen"> {about}</span>}
    </button>
  )
}

const CONFIRMED_MS = 2000

interface CopyProps {
  /** The text, or a function that loads it. */
  readonly text: string | (() => Promise<string>)
  /** What is copied, for screen readers: `key`, `base URL`. */
  readonly what: string
  readonly bare?: boolean
  readonly main?: boolean
  /** The label, if not `Copy`. */
  readonly words?: string
}

/** Copies a text to the clipboard and confirms it. */
export function CopyButton({ text, what, bare = false, main = false, words = 'Copy' }: CopyProps) {
  const [copied, setCopied] = useState(false)
  const { busy, failure, run } = useAction()
  const copy = async () => setCopied(await copyText(typeof text === 'string' ? text : await text(), what))
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), CONFIRMED_MS)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <>
      <Button
        small={!bare && !main}
        tone={bare ? 'bare' : main ? 'main' : undefined}
        icon={failure ? 'alert' : copied ? 'check' : 'copy'}
        aria-label={copied ? `Copy ${what}, copied` : `Copy ${what}`}
        aria-disabled={busy}
        onClick={() => run(copy)}
      >
        {/* The word stays, so that the layout does not shift. */}
        {!bare && words}
      </Button>
      {failure && (
        <span role="alert" class="danger small">
          {failure.message}
        </span>
      )}
    </>
  )
}

/** Copies a text, and says so. Browsers allow it only on localhost and over https; elsewhere the old command does it. */
async function copyText(text: string, what: string): Promise<boolean> {
  const done = await navigator.clipboard.writeText(text).then(
    () => true,
    () => copyBySelection(text),
  )
  announce(done ? `Copied ${what}.` : `The browser does not allow copying ${what}. Select it and copy it by hand.`)
  return done
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

interface Props {
  readonly label: ComponentChildren
  /** Its name for screen readers, if the label does not say it. */
  readonly name: string
  readonly class: string
  /** Rendered only while it is open. */
  readonly children: ComponentChildren
}

export function Popover({ label, name, class: look, children }: Props) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" class={look} popoverTarget={id} aria-label={name} aria-expanded={isOpen}>
        {label}
        <Icon name="chevron" />
      </button>
      <section
        id={id}
        popover="auto"
        aria-label={name}
        class="menu stack"
        // Before it is shown, so that it is complete when it is measured.
        onBeforeToggle={event => setOpen(event.newState === 'open')}
      >
        {isOpen && children}
      </section>
    </>
  )
}
