/** What bun makes of an import `with { type: "text" }`. */
declare module "*.lark" {
  const text: string;
  export default text;
}
