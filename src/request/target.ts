/** Path and query as they came: parsing the URL would tidy them up. A host has no slash. */
export const targetOf = ({ url }: Request): string => url.slice(url.indexOf('/', url.indexOf(':') + 3))
