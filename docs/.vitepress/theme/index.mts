import Theme from 'vitepress/theme-without-fonts'
import './style.css' // after the theme, whose variables it overrides

export default Theme
