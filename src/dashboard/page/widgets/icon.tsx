/** Small icons, 16 by 16. */

const drawings = {
  account: 'M8 8.2a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2ZM3 13.4c.5-2.2 2.5-3.4 5-3.4s4.5 1.2 5 3.4',
  alert: 'M8 5.2v3.6M8 11.2v.1M8 2.2 14.2 13H1.8L8 2.2Z',
  back: 'M9.8 3.6 5.4 8l4.4 4.4',
  check: 'm3 8.6 3.2 3.2L13 5',
  chevron: 'm4.5 6.2 3.5 3.6 3.5-3.6',
  connect: 'M6.2 9.8 9.8 6.2M7 4.6l1.2-1.2a3 3 0 0 1 4.3 4.3L11.3 9M9 11.4l-1.2 1.2a3 3 0 0 1-4.3-4.3L4.7 7',
  controls:
    'M2.6 4.6h5M11.4 4.6h2M9.5 6.5a1.9 1.9 0 1 0 0-3.8 1.9 1.9 0 0 0 0 3.8ZM2.6 11.4h2M8.4 11.4h5M6.5 13.3a1.9 1.9 0 1 0 0-3.8 1.9 1.9 0 0 0 0 3.8Z',
  copy: 'M5.8 5.8V3.4c0-.5.4-.9.9-.9h5.9c.5 0 .9.4.9.9v5.9c0 .5-.4.9-.9.9h-2.4M3.4 5.8h5.9c.5 0 .9.4.9.9v5.9c0 .5-.4.9-.9.9H3.4a.9.9 0 0 1-.9-.9V6.7c0-.5.4-.9.9-.9Z',
  edit: 'M10.6 3.2 12.8 5.4 5.6 12.6l-2.8.6.6-2.8 7.2-7.2ZM9.2 4.6l2.2 2.2',
  keys: 'M7.6 8.4 13 3M11 5l1.8 1.8M5.4 13a2.9 2.9 0 1 0 0-5.8 2.9 2.9 0 0 0 0 5.8Z',
  leave: 'M9.4 2.8H4.2c-.6 0-1 .4-1 1v8.4c0 .6.4 1 1 1h5.2M7 8h6.6M11 5.3 13.7 8 11 10.7',
  link: 'M9.2 2.8h4v4M13 3 7.4 8.6M11.2 9.6v2.6c0 .5-.4 1-1 1H3.8c-.6 0-1-.5-1-1V5.8c0-.6.4-1 1-1h2.6',
  outbox: 'M2.4 8.8 4.2 3.4h7.6l1.8 5.4v3.8H2.4V8.8ZM2.4 8.8h3.2l.9 1.6h3l.9-1.6h3.2',
  pause: 'M5.6 3.6v8.8M10.4 3.6v8.8',
  play: 'M5 3.4v9.2L12.4 8 5 3.4Z',
  playground: 'M2.8 3.4h10.4v7.4H7.4l-3 2.6v-2.6H2.8V3.4ZM5.4 6.2h5.2M5.4 8.2h3.2',
  plus: 'M8 3.2v9.6M3.2 8h9.6',
  recordings:
    'M5 10.6a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6ZM11 10.6A2.3 2.3 0 1 0 11 6a2.3 2.3 0 0 0 0 4.6ZM5 10.6h6',
  replies: 'M6.6 3.4 2.4 7.2l4.2 3.8V8.6c3.4 0 5.6 1 7 3.6-.3-3.8-2.6-6.3-7-6.4V3.4Z',
  requests: 'M2.4 4.2h11.2M2.4 8h7.2M2.4 11.8h9.4',
  roll: 'M13 8a5 5 0 0 1-9 3M3 8a5 5 0 0 1 9-3M12.3 2.4v2.7H9.6M3.7 13.6v-2.7h2.7',
  users:
    'M6 7.8a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6ZM1.8 12.8c.3-2 2-3.1 4.2-3.1s3.9 1.1 4.2 3.1M10.6 3.5a2.2 2.2 0 0 1 0 4.1M11.9 10c1.3.4 2.1 1.4 2.3 2.8',
} as const

export type IconName = keyof typeof drawings

/** A decorative icon, hidden from screen readers. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
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
}
