export { Badge, Badges, StatusBadge, type Tone, type TonedWord } from './code-block.jsx'
