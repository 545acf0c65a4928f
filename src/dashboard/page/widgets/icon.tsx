export { Icon, type IconName } from './button.jsx'
