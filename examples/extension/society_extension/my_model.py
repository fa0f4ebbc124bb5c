import virsci_society as vs


class MyModel(vs.Backend):
    """A model behind a client of one's own (an example)."""

    model: str = "small"

    @property
    def about(self):
        return f"the model {self.model}"

    @property
    def model_settings(self):
        return self.model

    async def complete(self, request):
        messages = [{"role": one.role, "content": one.content} for one in request.messages]
        text = await self.generate(messages, request.form.json_schema(), request)
        return vs.Reply(text, vs.Usage(), self.model)

    async def generate(self, messages, schema, request):
        # Your client stands here; in this example the offline scientist does.
        return (await vs.Offline().complete(request)).text
