/**
 * The parts of the signature library that Kedge uses. They are a module of their own, which is loaded with the first
 * JWT.
 */
export { SignJWT, compactVerify, decodeJwt, errors, importJWK } from 'jose'
