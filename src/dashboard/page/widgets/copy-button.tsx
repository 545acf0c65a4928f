export { CopyButton } from './button.jsx'
