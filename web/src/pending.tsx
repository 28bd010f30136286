// What a view shows until its data has arrived.

/** The view's heading, and that it loads or why it cannot. */
export function Pending({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h1 class="hidden">{title}</h1>
      <p class="pad" role="status">{text || "Loading …"}</p>
    </>
  );
}
