/**
 * Path and query, unparsed: parsing the URL would normalize them. A host has no slash, so the path begins at the
 * first slash behind it.
 */
export const targetOf = ({ url }: Request): string => url.slice(url.indexOf('/', url.indexOf(':') + 3))
